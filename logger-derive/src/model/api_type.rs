//! A type in a kind, with all attributes of its parts.

use syn::{Attribute, Data, DeriveInput, Field, Generics};

use super::serde::SerdeAttrs;
use crate::attr::{self, convert::is_converted};

/// A type that derives `ApiType` or `ApiObject`.
pub(crate) struct ApiType {
    pub(crate) generics: Generics,
    /// Whether the type declares its conversion.
    pub(crate) converts: bool,
    /// Whether it has a field with the JSON name `metadata`, as kinds and lists have.
    pub(crate) has_metadata: bool,
    /// The attributes of the type, its variants and its fields.
    pub(crate) attrs: Vec<Attribute>,
}

impl ApiType {
    pub(crate) fn new(input: &DeriveInput) -> Self {
        let mut attrs = input.attrs.clone();
        if let Data::Enum(data) = &input.data {
            attrs.extend(data.variants.iter().flat_map(|variant| variant.attrs.clone()));
        }
        attrs.extend(attr::fields(&input.data).into_iter().flat_map(|field| field.attrs.clone()));
        ApiType {
            generics: input.generics.clone(),
            converts: is_converted(&input.attrs),
            has_metadata: attr::fields(&input.data).into_iter().any(is_metadata),
            attrs,
        }
    }

    /// Returns the attributes of this name.
    pub(crate) fn attributes(&self, name: &str) -> Vec<Attribute> {
        attr::named(name, &self.attrs).cloned().collect()
    }
}

fn is_metadata(field: &Field) -> bool {
    match SerdeAttrs::new(&field.attrs).text("rename") {
        Some(name) => name == "metadata",
        None => field.ident.as_ref().is_some_and(|name| name == "metadata"),
    }
}
