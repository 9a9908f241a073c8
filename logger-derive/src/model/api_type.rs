//! A type in a kind, with all attributes of its parts.

use syn::{Attribute, Data, DeriveInput, Generics};

use crate::attr::{self, convert::is_converted};

/// A type that derives `ApiType` or `ApiObject`.
pub(crate) struct ApiType {
    pub(crate) generics: Generics,
    /// Whether the type declares its conversion.
    pub(crate) converts: bool,
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
        ApiType { generics: input.generics.clone(), converts: is_converted(&input.attrs), attrs }
    }
}
