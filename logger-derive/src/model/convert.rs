//! A type that derives `Convert`: its fields or variants with their JSON names.

use proc_macro2::{Span, TokenStream};
use syn::{
    Attribute, Data, DeriveInput, Field, Fields, FieldsUnnamed, Generics, Ident, LitStr, Type, Variant, ext::IdentExt,
    spanned::Spanned,
};

use super::{
    rust_type::inside_option,
    serde::{SerdeAttrs, SerdeItem},
};
use crate::{
    attr::{
        self,
        convert::{FieldAttr, ReasonOrReasons, TypeAttr, VariantAttr, WordOrNames},
        schema::SchemaAttr,
    },
    errors::Errors,
    grammar::{
        SCHEMA_FIELD,
        convert::{CONVERT, CONVERT_FIELD, CONVERT_VARIANT},
    },
};

/// A type that derives `Convert`.
pub(crate) struct ConvertType {
    pub(crate) ident: Ident,
    /// The path of `kubewright_core`.
    pub(crate) krate: TokenStream,
    pub(crate) generics: Generics,
    pub(crate) attr: TypeAttr,
    pub(crate) serde: SerdeAttrs,
    pub(crate) body: ConvertBody,
    pub(crate) items: Vec<SerdeItem>,
}

/// The content of a type.
pub(crate) enum ConvertBody {
    Struct(Vec<ConvertField>),
    Newtype(Box<ConvertField>),
    Enum(Vec<ConvertVariant>),
    /// One field without a name that is not in JSON.
    Skipped,
    /// A unit struct, or a struct of several fields without names.
    Tuple,
    Union,
}

/// A field with its attribute.
pub(crate) struct ConvertField {
    /// The Rust name; that of a newtype is `0`.
    pub(crate) name: String,
    /// The location of its name, or of its type.
    pub(crate) span: Span,
    /// The JSON name; empty for a newtype.
    pub(crate) json: String,
    /// Its type, or that inside its `Option`.
    pub(crate) ty: Type,
    pub(crate) may_be_absent: bool,
    pub(crate) flatten: bool,
    /// The JSON names of the fields that identify items of the list.
    pub(crate) keys: Vec<LitStr>,
    pub(crate) attr: FieldAttr,
    /// The `#[convert(..)]` attributes, for messages.
    pub(crate) attrs: Vec<Attribute>,
}

/// A variant with its attribute.
pub(crate) struct ConvertVariant {
    pub(crate) ident: Ident,
    /// The Rust name.
    pub(crate) name: String,
    /// The JSON name.
    pub(crate) json: String,
    pub(crate) payload: Payload,
    pub(crate) attr: VariantAttr,
    /// The `#[convert(..)]` attributes, for messages.
    pub(crate) attrs: Vec<Attribute>,
}

/// The content of a variant.
pub(crate) enum Payload {
    Unit,
    Newtype(Box<ConvertField>),
    Struct(Vec<ConvertField>),
    /// Several fields without names.
    Tuple(FieldsUnnamed),
}

impl ConvertType {
    pub(crate) fn parse(input: &DeriveInput, krate: &TokenStream, errors: &mut Errors) -> Self {
        let attr: TypeAttr = attr::parse(&CONVERT, &input.attrs, errors);
        let serde = SerdeAttrs::new(&input.attrs);
        let body = match &input.data {
            Data::Struct(data) => ConvertBody::from_struct(&data.fields, &serde, errors),
            Data::Enum(data) => {
                let parse = |variant| ConvertVariant::parse(variant, &serde, errors);
                ConvertBody::Enum(data.variants.iter().filter_map(parse).collect())
            }
            Data::Union(_) => ConvertBody::Union,
        };
        ConvertType {
            ident: input.ident.clone(),
            krate: krate.clone(),
            generics: input.generics.clone(),
            attr,
            serde,
            body,
            items: SerdeItem::all(input),
        }
    }

    /// Whether a type of this shape can have a conversion.
    pub(crate) fn is_convertible(&self) -> bool {
        self.generics.params.is_empty()
            && !matches!(self.body, ConvertBody::Skipped | ConvertBody::Tuple | ConvertBody::Union)
    }

    /// Returns the fields of the struct, or those of each variant.
    pub(crate) fn field_lists(&self) -> Vec<&[ConvertField]> {
        match &self.body {
            ConvertBody::Struct(fields) => vec![fields.as_slice()],
            ConvertBody::Newtype(field) => vec![std::slice::from_ref(field.as_ref())],
            ConvertBody::Enum(variants) => variants.iter().map(ConvertVariant::fields).collect(),
            ConvertBody::Skipped | ConvertBody::Tuple | ConvertBody::Union => Vec::new(),
        }
    }

    /// Returns the variants of an enum.
    pub(crate) fn variants(&self) -> &[ConvertVariant] {
        match &self.body {
            ConvertBody::Enum(variants) => variants,
            _ => &[],
        }
    }
}

impl ConvertBody {
    fn from_struct(fields: &Fields, serde: &SerdeAttrs, errors: &mut Errors) -> Self {
        match fields {
            Fields::Named(fields) => {
                let json_name = |name: &str, field: &SerdeAttrs| serde.field_name(name, field);
                let parse = |field| ConvertField::parse(field, serde.has("default"), json_name, errors);
                ConvertBody::Struct(fields.named.iter().filter_map(parse).collect())
            }
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                let field = ConvertField::parse(&fields.unnamed[0], false, |_, _| String::new(), errors);
                field.map_or(ConvertBody::Skipped, |field| ConvertBody::Newtype(Box::new(field)))
            }
            Fields::Unnamed(_) | Fields::Unit => ConvertBody::Tuple,
        }
    }
}

impl ConvertField {
    /// Parses a field; `None` is returned for one that is not in JSON.
    fn parse(
        field: &Field,
        default: bool,
        json_name: impl FnOnce(&str, &SerdeAttrs) -> String,
        errors: &mut Errors,
    ) -> Option<Self> {
        let serde = SerdeAttrs::new(&field.attrs);
        let attr: FieldAttr = attr::parse(&CONVERT_FIELD, &field.attrs, errors);
        if serde.is_skipped() {
            return None;
        }
        // `CrdSchema` reports the errors of its attribute.
        let schema = SchemaAttr::parse(&SCHEMA_FIELD, &field.attrs, &mut Errors::default());
        let name = field.ident.as_ref().map_or_else(|| "0".to_owned(), |ident| ident.unraw().to_string());
        let optional = inside_option(&field.ty);
        Some(ConvertField {
            json: json_name(&name, &serde),
            name,
            span: field.ident.as_ref().map_or_else(|| field.ty.span(), Ident::span),
            ty: optional.unwrap_or(&field.ty).clone(),
            may_be_absent: optional.is_some() || default || serde.has("default"),
            flatten: serde.has("flatten"),
            keys: schema.list_map_keys,
            attr,
            attrs: attr::named("convert", &field.attrs).cloned().collect(),
        })
    }

    /// Returns the Rust name in the hub.
    pub(crate) fn hub_name(&self) -> String {
        self.attr.from.as_ref().map_or_else(|| self.name.clone(), |name| name.0.value())
    }

    /// Whether the hub may not have the field.
    pub(crate) fn may_be_spoke_only(&self) -> bool {
        let FieldAttr { from, with, default, store, lost } = &self.attr;
        let has_hub_default = self.may_be_absent && default.is_some();
        let has_counterpart = from.is_some() || with.is_some() || has_hub_default || self.flatten;
        !has_counterpart && (store.is_some() || lost.is_some())
    }
}

impl ConvertVariant {
    fn parse(variant: &Variant, ty: &SerdeAttrs, errors: &mut Errors) -> Option<Self> {
        let serde = SerdeAttrs::new(&variant.attrs);
        let attr: VariantAttr = attr::parse(&CONVERT_VARIANT, &variant.attrs, errors);
        if serde.is_skipped() {
            return None;
        }
        let payload = match &variant.fields {
            Fields::Unit => Payload::Unit,
            Fields::Named(fields) => {
                let parse = |field| {
                    let json_name = |name: &str, field: &SerdeAttrs| ty.variant_field_name(name, field, &serde);
                    ConvertField::parse(field, false, json_name, errors)
                };
                Payload::Struct(fields.named.iter().filter_map(parse).collect())
            }
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                let field = ConvertField::parse(&fields.unnamed[0], false, |_, _| String::new(), errors)?;
                Payload::Newtype(Box::new(field))
            }
            Fields::Unnamed(fields) => Payload::Tuple(fields.clone()),
        };
        let name = variant.ident.unraw().to_string();
        Some(ConvertVariant {
            ident: variant.ident.clone(),
            json: ty.variant_name(&name, &serde),
            name,
            payload,
            attr,
            attrs: attr::named("convert", &variant.attrs).cloned().collect(),
        })
    }

    /// Returns the Rust name in the hub.
    pub(crate) fn hub_name(&self) -> String {
        self.attr.from.as_ref().map_or_else(|| self.name.clone(), |name| name.0.value())
    }

    /// Returns all fields of the content.
    pub(crate) fn fields(&self) -> &[ConvertField] {
        match &self.payload {
            Payload::Unit | Payload::Tuple(_) => &[],
            Payload::Newtype(field) => std::slice::from_ref(field.as_ref()),
            Payload::Struct(fields) => fields,
        }
    }

    /// Whether the hub has one variant for this and another variant of the spoke.
    pub(crate) fn is_many_to_one(&self) -> bool {
        matches!(self.attr.store, Some(WordOrNames::Word)) || matches!(self.attr.lost, Some(ReasonOrReasons::Reason(_)))
    }

    /// Returns the variants of the hub that the spoke shows as this one, with the reasons why they are lost.
    pub(crate) fn stands_for(&self) -> Vec<(&Ident, Option<&LitStr>)> {
        let stored = match &self.attr.store {
            Some(WordOrNames::Names(names)) => names.iter().map(|name| (name, None)).collect(),
            _ => Vec::new(),
        };
        let lost = match &self.attr.lost {
            Some(ReasonOrReasons::Reasons(reasons)) => {
                reasons.iter().map(|(name, reason)| (name, Some(reason))).collect()
            }
            _ => Vec::new(),
        };
        [stored, lost].concat()
    }
}
