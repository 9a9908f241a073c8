//! A type that derives `CrdSchema`: its fields with their attributes and what serde makes of them.

use darling::FromMeta;
use proc_macro2::Span;
use syn::{
    Attribute, Data, DeriveInput, Expr, Field, Fields, Ident, Meta, Type, Variant, ext::IdentExt, spanned::Spanned,
};

use super::{
    json::field_name,
    serde::{SerdeAttrs, SerdeItem},
};
use crate::{
    attr::{self, docs::description, literal, schema::SchemaAttr, serde::SerdeDefault},
    errors::Errors,
    grammar::{SCHEMA_FIELD, SCHEMA_TYPE},
};

/// A type that derives `CrdSchema`.
pub(crate) struct SchemaType {
    pub(crate) ident: Ident,
    pub(crate) attr: SchemaAttr,
    pub(crate) body: SchemaBody,
    pub(crate) serde: SerdeAttrs,
    /// The description by the doc comment.
    pub(crate) description: Option<Expr>,
    /// `#[serde(default)]`
    pub(crate) default: Option<SerdeDefault>,
    /// Whether schemars has a `rename` of the schema.
    pub(crate) is_renamed: bool,
    pub(crate) items: Vec<SerdeItem>,
}

/// The content of a type.
pub(crate) enum SchemaBody {
    Struct(Box<SchemaFields>),
    Enum {
        variants: Vec<SchemaFields>,
        /// The attributes of variants, which apply elsewhere.
        misplaced: Vec<Attribute>,
    },
    Union,
}

/// The fields of a struct or a variant.
pub(crate) struct SchemaFields {
    /// The attributes of the variant; empty for a struct, whose attributes are those of the type.
    pub(crate) serde: SerdeAttrs,
    /// The description of the variant by its doc comment.
    pub(crate) description: Option<Expr>,
    pub(crate) fields: Vec<SchemaField>,
    /// `rename_all`, or `rename_all_fields` of an enum.
    case_convention: Option<Meta>,
    /// Whether `#[serde(default)]` on the struct is the default of each field.
    pub(crate) has_default: bool,
    pub(crate) is_tuple: bool,
    /// Whether it has braces and no fields.
    is_empty: bool,
}

/// A field with its attribute.
pub(crate) struct SchemaField {
    /// The Rust name; a field of a tuple has none.
    pub(crate) ident: Option<Ident>,
    pub(crate) ty: Type,
    /// The JSON name of `#[serde(rename = "..")]`.
    pub(crate) rename: Option<String>,
    /// Whether the JSON name is explicit: by `rename`, or by a case convention of the type or variant.
    pub(crate) is_renamed: bool,
    /// Whether it is a property in JSON. A flattened field is not: the fields of its type are.
    pub(crate) is_property: bool,
    pub(crate) span: Span,
    pub(crate) serde: SerdeAttrs,
    /// The description by the doc comment.
    pub(crate) description: Option<Expr>,
    pub(crate) attr: SchemaAttr,
    /// The `#[schema(..)]` attributes, for messages.
    pub(crate) attrs: Vec<Attribute>,
}

impl SchemaType {
    pub(crate) fn parse(input: &DeriveInput, errors: &mut Errors) -> Self {
        let attr = SchemaAttr::parse(&SCHEMA_TYPE, &input.attrs, errors);
        let serde = SerdeAttrs::new(&input.attrs);
        let body = match &input.data {
            Data::Struct(data) => {
                let fields = SchemaFields::parse(&data.fields, serde.key("rename_all"), errors);
                SchemaBody::Struct(Box::new(SchemaFields { has_default: serde.has("default"), ..fields }))
            }
            Data::Enum(data) => {
                let parse = |variant: &Variant| {
                    let attrs = SerdeAttrs::new(&variant.attrs);
                    let case_convention = attrs.key("rename_all").or(serde.key("rename_all_fields"));
                    let fields = SchemaFields::parse(&variant.fields, case_convention, errors);
                    SchemaFields { serde: attrs, description: description(&variant.attrs), ..fields }
                };
                let misplaced = data.variants.iter().flat_map(|variant| attr::named("schema", &variant.attrs));
                SchemaBody::Enum {
                    misplaced: misplaced.cloned().collect(),
                    variants: data.variants.iter().map(parse).collect(),
                }
            }
            Data::Union(_) => SchemaBody::Union,
        };
        SchemaType {
            ident: input.ident.clone(),
            attr,
            body,
            default: serde.key("default").and_then(|default| SerdeDefault::from_meta(default).ok()),
            serde,
            description: description(&input.attrs),
            is_renamed: attr::key("schemars", "rename", &input.attrs).is_some(),
            items: SerdeItem::all(input),
        }
    }

    /// Returns the fields of the struct, or those of each variant.
    pub(crate) fn field_lists(&self) -> &[SchemaFields] {
        match &self.body {
            SchemaBody::Struct(fields) => std::slice::from_ref(fields.as_ref()),
            SchemaBody::Enum { variants, .. } => variants,
            SchemaBody::Union => &[],
        }
    }

    /// Returns all fields; those of an enum by variant.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &SchemaField> {
        self.field_lists().iter().flat_map(|list| &list.fields)
    }

    /// Whether its schema has the fields of flattened types beside its own.
    pub(crate) fn flattens(&self) -> bool {
        !self.serde.has_other_encoding() && self.fields().any(|field| field.serde.has("flatten"))
    }

    /// Whether it is a struct with braces and without fields.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(&self.body, SchemaBody::Struct(fields) if fields.is_empty)
    }
}

impl SchemaFields {
    fn parse(fields: &Fields, case_convention: Option<&Meta>, errors: &mut Errors) -> Self {
        let is_renamed = case_convention.is_some();
        SchemaFields {
            serde: SerdeAttrs::default(),
            description: None,
            fields: fields.iter().map(|field| SchemaField::parse(field, is_renamed, errors)).collect(),
            case_convention: case_convention.cloned(),
            has_default: false,
            is_tuple: matches!(fields, Fields::Unnamed(_)),
            is_empty: matches!(fields, Fields::Named(named) if named.named.is_empty()),
        }
    }

    /// Returns the JSON name of a field, if it is one for encoding and decoding.
    pub(crate) fn json_name(&self, field: &SchemaField) -> Option<String> {
        let rule = match &self.case_convention {
            Some(meta @ Meta::NameValue(_)) => literal(meta).map(|rule| rule.value()),
            // Different names for encoding and decoding.
            Some(_) => return None,
            None => None,
        };
        let has_two_names = field.rename.is_none() && field.serde.has("rename");
        if has_two_names || field.serde.has_any(&["flatten", "skip", "skip_deserializing", "skip_serializing"]) {
            return None;
        }
        field.rename.clone().or_else(|| Some(field_name(rule.as_deref(), &field.name()?)))
    }
}

impl SchemaField {
    fn parse(field: &Field, is_renamed: bool, errors: &mut Errors) -> Self {
        let serde = SerdeAttrs::new(&field.attrs);
        SchemaField {
            ident: field.ident.clone(),
            ty: field.ty.clone(),
            rename: serde.text("rename"),
            is_renamed: is_renamed || serde.has("rename"),
            is_property: !serde.has("flatten") && !serde.is_skipped(),
            serde,
            description: description(&field.attrs),
            span: field.ident.as_ref().map_or_else(|| field.ty.span(), Ident::span),
            attr: SchemaAttr::parse(&SCHEMA_FIELD, &field.attrs, errors),
            attrs: attr::named("schema", &field.attrs).cloned().collect(),
        }
    }

    /// Returns the Rust name; a field of a tuple has none.
    pub(crate) fn name(&self) -> Option<String> {
        self.ident.as_ref().map(|ident| ident.unraw().to_string())
    }

    /// Whether the default of the struct is its default.
    pub(crate) fn takes_default_of_type(&self) -> bool {
        self.is_property && !self.serde.has("default")
    }
}
