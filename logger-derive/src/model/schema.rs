//! A type that derives `CrdSchema`: its fields with their attributes and what serde makes of them.

use proc_macro2::Span;
use syn::{Attribute, Data, DeriveInput, Field, Fields, Ident, Meta, Type, Variant, ext::IdentExt, spanned::Spanned};

use super::serde::SerdeItem;
use crate::{
    attr::{
        self, literal,
        schema::SchemaAttr,
        serde::{has_serde_key, is_skipped},
    },
    errors::Errors,
    grammar::{SCHEMA_FIELD, SCHEMA_TYPE},
};

/// A type that derives `CrdSchema`.
pub(crate) struct SchemaType {
    pub(crate) ident: Ident,
    pub(crate) attr: SchemaAttr,
    pub(crate) body: SchemaBody,
    /// Whether its schema has the fields of flattened types beside its own.
    pub(crate) flattens: bool,
    pub(crate) serde: Vec<SerdeItem>,
}

/// The content of a type.
pub(crate) enum SchemaBody {
    Struct(Box<SchemaFields>),
    Enum {
        variants: Vec<SchemaFields>,
        /// The attributes of variants, which apply elsewhere.
        misplaced: Vec<Attribute>,
        /// Whether no variant is in JSON.
        is_empty: bool,
    },
    Union,
}

/// The fields of a struct or a variant.
pub(crate) struct SchemaFields {
    pub(crate) fields: Vec<SchemaField>,
    /// `rename_all`, or `rename_all_fields` of an enum.
    pub(crate) case_convention: Option<Meta>,
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
    pub(crate) attr: SchemaAttr,
    /// All attributes.
    pub(crate) attrs: Vec<Attribute>,
}

impl SchemaType {
    pub(crate) fn parse(input: &DeriveInput, errors: &mut Errors) -> Self {
        let attr = SchemaAttr::parse(&SCHEMA_TYPE, &input.attrs, errors);
        let body = match &input.data {
            Data::Struct(data) => {
                let case_convention = attr::key("serde", "rename_all", &input.attrs);
                let has_default = has_serde_key(&input.attrs, "default");
                let fields = SchemaFields::parse(&data.fields, case_convention, errors);
                SchemaBody::Struct(Box::new(SchemaFields { has_default, ..fields }))
            }
            Data::Enum(data) => {
                let all = attr::key("serde", "rename_all_fields", &input.attrs);
                let convention =
                    |variant: &Variant| attr::key("serde", "rename_all", &variant.attrs).or_else(|| all.clone());
                let parse = |variant: &Variant| SchemaFields::parse(&variant.fields, convention(variant), errors);
                let misplaced = data.variants.iter().flat_map(|variant| attr::named("schema", &variant.attrs));
                SchemaBody::Enum {
                    misplaced: misplaced.cloned().collect(),
                    is_empty: data.variants.iter().all(|variant| is_skipped(&variant.attrs)),
                    variants: data.variants.iter().map(parse).collect(),
                }
            }
            Data::Union(_) => SchemaBody::Union,
        };
        let is_flattened = |field: &&Field| has_serde_key(&field.attrs, "flatten");
        let is_encoded_by_fields =
            ["from", "into", "transparent", "try_from"].iter().all(|key| !has_serde_key(&input.attrs, key));
        let flattens = is_encoded_by_fields && attr::fields(&input.data).iter().any(is_flattened);
        SchemaType { ident: input.ident.clone(), attr, body, flattens, serde: SerdeItem::all(input) }
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

    /// Whether it is a struct with braces and without fields.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(&self.body, SchemaBody::Struct(fields) if fields.is_empty)
    }
}

impl SchemaFields {
    fn parse(fields: &Fields, case_convention: Option<Meta>, errors: &mut Errors) -> Self {
        let is_renamed = case_convention.is_some();
        SchemaFields {
            fields: fields.iter().map(|field| SchemaField::parse(field, is_renamed, errors)).collect(),
            case_convention,
            has_default: false,
            is_tuple: matches!(fields, Fields::Unnamed(_)),
            is_empty: matches!(fields, Fields::Named(named) if named.named.is_empty()),
        }
    }
}

impl SchemaField {
    fn parse(field: &Field, is_renamed: bool, errors: &mut Errors) -> Self {
        let rename = attr::keys("serde", &field.attrs).into_iter().find_map(|meta| match meta {
            Meta::NameValue(pair) if pair.path.is_ident("rename") => literal(&pair).map(|name| name.value()),
            _ => None,
        });
        SchemaField {
            ident: field.ident.clone(),
            ty: field.ty.clone(),
            is_renamed: is_renamed || has_serde_key(&field.attrs, "rename"),
            is_property: !has_serde_key(&field.attrs, "flatten") && !is_skipped(&field.attrs),
            rename,
            span: field.ident.as_ref().map_or_else(|| field.ty.span(), Ident::span),
            attr: SchemaAttr::parse(&SCHEMA_FIELD, &field.attrs, errors),
            attrs: field.attrs.clone(),
        }
    }

    /// Returns the Rust name; a field of a tuple has none.
    pub(crate) fn name(&self) -> Option<String> {
        self.ident.as_ref().map(|ident| ident.unraw().to_string())
    }

    pub(crate) fn has_serde_key(&self, key: &str) -> bool {
        has_serde_key(&self.attrs, key)
    }
}
