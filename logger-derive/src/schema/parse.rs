//! Parses `#[schema(..)]` on a type and on its fields.

use proc_macro2::Span;
use syn::{Data, DeriveInput, Field, Fields, Ident, Meta, Variant, ext::IdentExt, spanned::Spanned};

use super::{check, updates};
use crate::{
    attr::{self, literal, schema::SchemaAttr, serde::has_serde_key},
    convert::json::of_field,
    errors::Errors,
};

/// A type with its attribute and its fields.
pub(crate) struct SchemaType {
    pub(crate) attr: SchemaAttr,
    /// All fields, those of an enum by variant.
    pub(crate) fields: Vec<SchemaField>,
    /// Whether it is a struct with braces and without fields.
    pub(crate) is_empty: bool,
    /// Whether its schema has the fields of flattened types beside its own.
    pub(crate) flattens: bool,
}

/// A field with its attribute.
pub(crate) struct SchemaField {
    /// The Rust name; a field of a tuple has none.
    pub(crate) name: Option<String>,
    /// The JSON name of `#[serde(rename = "..")]`.
    pub(crate) rename: Option<String>,
    /// Whether the JSON name is explicit: by `rename`, or by a case convention of the type or variant.
    pub(crate) is_renamed: bool,
    /// Whether it is a property in JSON. A flattened field is not: the fields of its type are.
    pub(crate) is_property: bool,
    pub(crate) span: Span,
    pub(crate) attr: SchemaAttr,
}

impl SchemaType {
    pub(crate) fn parse(input: &DeriveInput, errors: &mut Errors) -> Self {
        if let Data::Union(_) = &input.data {
            errors.push(&input.ident, "unsupported union: it has no JSON encoding; use an enum");
        }
        let attr: SchemaAttr = attr::parse("schema", &input.attrs, errors);
        check::check_type(input, &attr, errors);
        let fields: Vec<_> = containers(input).iter().flat_map(|container| container.parse_fields(errors)).collect();
        let is_empty = match &input.data {
            Data::Struct(data) => matches!(&data.fields, Fields::Named(named) if named.named.is_empty()),
            Data::Enum(_) | Data::Union(_) => false,
        };
        let is_flattened = |field: &&Field| has_serde_key(&field.attrs, "flatten");
        let is_encoded_by_fields =
            ["from", "into", "transparent", "try_from"].iter().all(|key| !has_serde_key(&input.attrs, key));
        let flattens = is_encoded_by_fields && super::fields(&input.data).iter().any(is_flattened);
        let model = SchemaType { attr, fields, is_empty, flattens };
        check::check_unions(&model, input, errors);
        updates::check_fields(&model, input, errors);
        model
    }
}

/// A struct or a variant, with its fields.
struct Container<'a> {
    fields: &'a Fields,
    /// `rename_all`, or `rename_all_fields` of an enum.
    case_convention: Option<Meta>,
}

/// Returns the struct, or the variants of an enum.
fn containers(input: &DeriveInput) -> Vec<Container<'_>> {
    match &input.data {
        Data::Struct(data) => {
            let case_convention = attr::key("serde", "rename_all", &input.attrs);
            vec![Container { fields: &data.fields, case_convention }]
        }
        Data::Enum(data) => {
            let of_all = attr::key("serde", "rename_all_fields", &input.attrs);
            let convention =
                |variant: &Variant| attr::key("serde", "rename_all", &variant.attrs).or_else(|| of_all.clone());
            let variants = data.variants.iter();
            variants.map(|of| Container { fields: &of.fields, case_convention: convention(of) }).collect()
        }
        Data::Union(_) => Vec::new(),
    }
}

impl Container<'_> {
    fn parse_fields(&self, errors: &mut Errors) -> Vec<SchemaField> {
        let fields: Vec<SchemaField> = self.fields.iter().map(|field| self.parse_field(field, errors)).collect();
        self.check_json_names(&fields, errors);
        fields
    }

    /// Reports fields of one JSON name, which serde encodes twice and cannot decode.
    fn check_json_names(&self, fields: &[SchemaField], errors: &mut Errors) {
        let rule = match &self.case_convention {
            Some(Meta::NameValue(pair)) => literal(pair).map(|rule| rule.value()),
            // Different names for encoding and decoding.
            Some(_) => return,
            None => None,
        };
        let mut known: Vec<(String, &str)> = Vec::new();
        for (field, parsed) in self.fields.iter().zip(fields) {
            let Some(name) = &parsed.name else { continue };
            let has_keys = |keys: &[&str]| keys.iter().any(|key| has_serde_key(&field.attrs, key));
            let has_two_names = parsed.rename.is_none() && has_keys(&["rename"]);
            if has_two_names || has_keys(&["flatten", "skip", "skip_deserializing", "skip_serializing"]) {
                continue;
            }
            let json_name = parsed.rename.clone().unwrap_or_else(|| of_field(rule.as_deref(), name));
            match known.iter().find(|(known, _)| *known == json_name) {
                Some((_, other)) => {
                    let message = format!(
                        "the field `{other}` has the same JSON name, `{json_name}`, so that it is encoded twice and \
                         cannot be decoded; rename one"
                    );
                    errors.extend(syn::Error::new(parsed.span, message));
                }
                None => known.push((json_name, name)),
            }
        }
    }

    fn parse_field(&self, field: &Field, errors: &mut Errors) -> SchemaField {
        let attr: SchemaAttr = attr::parse("schema", &field.attrs, errors);
        check::check_field(field, matches!(self.fields, Fields::Unnamed(_)), &attr, errors);
        let rename = attr::keys("serde", &field.attrs).into_iter().find_map(|meta| match meta {
            Meta::NameValue(pair) if pair.path.is_ident("rename") => literal(&pair).map(|name| name.value()),
            _ => None,
        });
        SchemaField {
            name: field.ident.as_ref().map(|ident| ident.unraw().to_string()),
            is_renamed: self.case_convention.is_some() || has_serde_key(&field.attrs, "rename"),
            is_property: !["flatten", "skip"].iter().any(|key| has_serde_key(&field.attrs, key)),
            rename,
            span: field.ident.as_ref().map_or_else(|| field.ty.span(), Ident::span),
            attr,
        }
    }
}
