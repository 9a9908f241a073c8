//! The attributes of serde and schemars of a type, of its variants and of its fields.

use syn::{Attribute, Data, DeriveInput, Field, LitStr, Meta, Type, parse::Parse};

use crate::{
    attr::{self, literal, schemars::SchemarsKey},
    grammar::serde::Place,
};

/// The attributes of a type, a variant or a field that the derives of serde and schemars read.
#[derive(Default)]
pub(crate) struct SerdeAttrs {
    /// The keys of serde.
    pub(crate) keys: Vec<Meta>,
    pub(crate) schemars: Vec<SchemarsKey>,
}

/// A type, a variant or a field with its attributes.
pub(crate) struct SerdeItem {
    pub(crate) place: Place,
    pub(crate) serde: SerdeAttrs,
    /// The type of a named field.
    pub(crate) named: Option<Type>,
}

impl SerdeAttrs {
    pub(crate) fn new(attrs: &[Attribute]) -> Self {
        SerdeAttrs { keys: attr::keys("serde", attrs), schemars: attr::keys("schemars", attrs) }
    }

    /// Returns a key of serde.
    pub(crate) fn key(&self, key: &str) -> Option<&Meta> {
        self.keys.iter().find(|meta| meta.path().is_ident(key))
    }

    /// Whether serde has this key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.key(key).is_some()
    }

    /// Whether serde has any of these keys.
    pub(crate) fn has_any(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.has(key))
    }

    /// Returns the strings of a repeated key of serde.
    pub(crate) fn literals(&self, key: &str) -> impl Iterator<Item = LitStr> {
        self.keys.iter().filter(move |meta| meta.path().is_ident(key)).filter_map(literal)
    }

    /// Returns the string of a key of serde.
    pub(crate) fn literal(&self, key: &str) -> Option<LitStr> {
        self.literals(key).next()
    }

    /// Returns the text of a key of serde.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.literal(key).map(|text| text.value())
    }

    /// Returns what the string of a key of serde contains, such as a path.
    pub(crate) fn value<T: Parse>(&self, key: &str) -> Option<T> {
        self.literal(key)?.parse().ok()
    }

    /// Whether schemars has this key.
    pub(crate) fn has_schemars_key(&self, key: &str) -> bool {
        self.schemars.iter().any(|known| known.path.is_ident(key))
    }

    /// Whether serde neither encodes nor decodes a field or a variant.
    pub(crate) fn is_skipped(&self) -> bool {
        self.has("skip") || self.has("skip_serializing") && self.has("skip_deserializing")
    }

    /// Returns the key with the other type from which a type is decoded.
    pub(crate) fn decoded_from(&self) -> Option<&'static str> {
        ["from", "try_from"].into_iter().find(|key| self.has(key))
    }

    /// Whether a type is written as another one, and decoded from it.
    pub(crate) fn is_other_type(&self) -> bool {
        self.has("into") && self.decoded_from().is_some()
    }

    /// Whether the encoding of a struct is not that of its fields.
    pub(crate) fn has_other_encoding(&self) -> bool {
        self.has_any(&["from", "into", "transparent", "try_from"])
    }

    /// Whether the schema of a field or a variant is that of another type than its own.
    pub(crate) fn has_other_schema(&self) -> bool {
        self.has("with") || ["with", "schema_with"].iter().any(|key| self.has_schemars_key(key))
    }

    /// Whether the schema of a field or a variant is that of its type or types.
    pub(crate) fn has_schema_of_type(&self) -> bool {
        !self.has_schemars_key("skip") && !self.has_other_schema() && !self.is_skipped()
    }
}

impl SerdeItem {
    /// Returns the type itself, followed by its variants, each before its fields, or by its fields.
    pub(crate) fn all(input: &DeriveInput) -> Vec<Self> {
        let new = |place, attrs: &[Attribute]| SerdeItem { place, serde: SerdeAttrs::new(attrs), named: None };
        let field = |field: &Field| SerdeItem {
            named: field.ident.as_ref().map(|_| field.ty.clone()),
            ..new(Place::Field, &field.attrs)
        };
        let mut all = Vec::new();
        match &input.data {
            Data::Struct(data) => {
                all.push(new(Place::Struct, &input.attrs));
                all.extend(data.fields.iter().map(field));
            }
            Data::Enum(data) => {
                all.push(new(Place::Enum, &input.attrs));
                for variant in &data.variants {
                    let item = new(Place::Variant, &variant.attrs);
                    // A skipped variant has no JSON.
                    let is_skipped = item.serde.is_skipped();
                    all.push(item);
                    all.extend(variant.fields.iter().filter(|_| !is_skipped).map(field));
                }
            }
            Data::Union(_) => {}
        }
        all
    }
}
