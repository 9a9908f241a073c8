//! The model of a type that derives `Convert`: its fields or variants with their JSON names, ready to generate code.

use proc_macro2::{Span, TokenStream};
use syn::{Attribute, Data, DeriveInput, Field, Fields, Ident, LitStr, Type, Variant, ext::IdentExt, spanned::Spanned};

use crate::{
    attr::{
        self,
        convert::{FieldAttr, TypeAttr, VariantAttr},
        schema::SchemaAttr,
    },
    errors::Errors,
    model::{
        json::{JsonField, JsonType},
        rust_type::inside_option,
    },
};

/// A type that derives `Convert`.
pub(super) struct ConvertType {
    pub(super) ident: Ident,
    /// The path of `kubewright_core`.
    pub(super) krate: TokenStream,
    pub(super) attr: TypeAttr,
    pub(super) json: JsonType,
    pub(super) body: Body,
}

/// The content of a type.
pub(super) enum Body {
    Struct(Vec<ConvertField>),
    Newtype(Box<ConvertField>),
    Enum(Vec<ConvertVariant>),
}

/// A field with its attribute.
pub(super) struct ConvertField {
    /// The Rust name; that of a newtype is `0`.
    pub(super) name: String,
    /// The location of its name, or of its type.
    pub(super) span: Span,
    /// The JSON name; empty for a newtype.
    pub(super) json: String,
    /// Its type, or that inside its `Option`.
    pub(super) ty: Type,
    pub(super) may_be_absent: bool,
    pub(super) flatten: bool,
    /// The JSON names of the fields that identify items of the list.
    pub(super) keys: Vec<LitStr>,
    pub(super) attr: FieldAttr,
    /// The `#[convert(..)]` attributes, for messages.
    pub(super) attrs: Vec<Attribute>,
}

/// A variant with its attribute.
pub(super) struct ConvertVariant {
    pub(super) ident: Ident,
    /// The Rust name.
    pub(super) name: String,
    /// The JSON name.
    pub(super) json: String,
    pub(super) payload: Payload,
    pub(super) attr: VariantAttr,
    /// The `#[convert(..)]` attributes, for messages.
    pub(super) attrs: Vec<Attribute>,
}

/// The content of a variant.
pub(super) enum Payload {
    Unit,
    Newtype(Box<ConvertField>),
    Struct(Vec<ConvertField>),
}

impl ConvertType {
    /// Parses the type; `None` is returned for one that cannot have a conversion.
    pub(super) fn parse(input: &DeriveInput, krate: &TokenStream, errors: &mut Errors) -> Option<Self> {
        let attr: TypeAttr = attr::parse("convert", &input.attrs, errors);
        let json = JsonType::parse(&input.attrs, errors);
        if !input.generics.params.is_empty() {
            let message = "`Convert` does not support generic types: a conversion is between two types; remove the \
                           parameters";
            errors.push(&input.generics, message);
            return None;
        }
        let body = match &input.data {
            Data::Struct(data) => Body::of_struct(&input.ident, &data.fields, &json, errors)?,
            Data::Enum(data) => {
                let variants = data.variants.iter().filter_map(|variant| ConvertVariant::parse(variant, &json, errors));
                Body::Enum(variants.collect())
            }
            Data::Union(_) => {
                errors.push(&input.ident, "unsupported union: it has no JSON encoding; use an enum");
                return None;
            }
        };
        Some(ConvertType { ident: input.ident.clone(), krate: krate.clone(), attr, json, body })
    }
}

impl Body {
    fn of_struct(ident: &Ident, fields: &Fields, json: &JsonType, errors: &mut Errors) -> Option<Self> {
        match fields {
            Fields::Named(fields) => {
                let parse =
                    |field| ConvertField::parse(field, json.default, |name, of| json.field_name(name, of), errors);
                Some(Body::Struct(fields.named.iter().filter_map(parse).collect()))
            }
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                let field = ConvertField::parse(&fields.unnamed[0], false, |_, _| String::new(), errors)?;
                Some(Body::Newtype(Box::new(field)))
            }
            Fields::Unnamed(_) | Fields::Unit => {
                errors.push(ident, "`Convert` requires named fields, or one field without a name");
                None
            }
        }
    }
}

impl ConvertField {
    /// Parses a field; `None` is returned for one that is not in JSON.
    fn parse(
        field: &Field,
        default: bool,
        json_name: impl FnOnce(&str, &JsonField) -> String,
        errors: &mut Errors,
    ) -> Option<Self> {
        let json = JsonField::parse(&field.attrs, errors);
        let attr: FieldAttr = attr::parse("convert", &field.attrs, errors);
        if json.skip {
            return None;
        }
        // `CrdSchema` reports the errors of its attribute.
        let schema: SchemaAttr = attr::parse("schema", &field.attrs, &mut Errors::default());
        let name = field.ident.as_ref().map_or_else(|| "0".to_owned(), |ident| ident.unraw().to_string());
        let optional = inside_option(&field.ty);
        Some(ConvertField {
            json: json_name(&name, &json),
            name,
            span: field.ident.as_ref().map_or_else(|| field.ty.span(), Ident::span),
            ty: optional.unwrap_or(&field.ty).clone(),
            may_be_absent: optional.is_some() || default || json.default,
            flatten: json.flatten,
            keys: schema.list_map_keys,
            attr,
            attrs: attr::named("convert", &field.attrs).cloned().collect(),
        })
    }

    /// Returns the Rust name in the hub.
    pub(super) fn hub_name(&self) -> String {
        self.attr.from.as_ref().map_or_else(|| self.name.clone(), |name| name.0.value())
    }

    /// Whether the hub may not have the field.
    pub(super) fn may_be_spoke_only(&self) -> bool {
        let FieldAttr { from, with, default, store, lost } = &self.attr;
        let has_hub_default = self.may_be_absent && default.is_some();
        let has_counterpart = from.is_some() || with.is_some() || has_hub_default || self.flatten;
        !has_counterpart && (store.is_some() || lost.is_some())
    }
}

impl ConvertVariant {
    fn parse(variant: &Variant, json: &JsonType, errors: &mut Errors) -> Option<Self> {
        let of = JsonField::parse(&variant.attrs, errors);
        let attr: VariantAttr = attr::parse("convert", &variant.attrs, errors);
        if of.skip {
            return None;
        }
        let payload = match &variant.fields {
            Fields::Unit => Payload::Unit,
            Fields::Named(fields) => {
                let parse = |field| {
                    let json_name = |name: &str, field: &JsonField| json.variant_field_name(name, field, &of);
                    ConvertField::parse(field, false, json_name, errors)
                };
                Payload::Struct(fields.named.iter().filter_map(parse).collect())
            }
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                let field = ConvertField::parse(&fields.unnamed[0], false, |_, _| String::new(), errors)?;
                Payload::Newtype(Box::new(field))
            }
            Fields::Unnamed(fields) => {
                errors.push(fields, "`Convert` requires named fields, or one field without a name");
                return None;
            }
        };
        let name = variant.ident.unraw().to_string();
        Some(ConvertVariant {
            ident: variant.ident.clone(),
            json: json.variant_name(&name, &of),
            name,
            payload,
            attr,
            attrs: attr::named("convert", &variant.attrs).cloned().collect(),
        })
    }

    /// Returns the Rust name in the hub.
    pub(super) fn hub_name(&self) -> String {
        self.attr.from.as_ref().map_or_else(|| self.name.clone(), |name| name.0.value())
    }

    /// Returns all fields of the content.
    pub(super) fn fields(&self) -> &[ConvertField] {
        match &self.payload {
            Payload::Unit => &[],
            Payload::Newtype(field) => std::slice::from_ref(field.as_ref()),
            Payload::Struct(fields) => fields,
        }
    }
}
