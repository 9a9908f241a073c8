//! The attributes of serde and schemars of a type, of its variants and of its fields.

use syn::{Attribute, Data, DeriveInput, Field, Meta, Type};

use crate::{
    attr::{self, schemars::SchemarsKey, serde::is_skipped},
    grammar::serde::Place,
};

/// A type, a variant or a field with its attributes.
pub(crate) struct SerdeItem {
    pub(crate) place: Place,
    pub(crate) serde: Vec<Meta>,
    pub(crate) schemars: Vec<SchemarsKey>,
    /// The type of a named field.
    pub(crate) named: Option<Type>,
}

impl SerdeItem {
    /// Returns the type itself, followed by its variants, each before its fields, or by its fields.
    pub(crate) fn all(input: &DeriveInput) -> Vec<Self> {
        let new = |place, attrs: &[Attribute]| SerdeItem {
            place,
            serde: attr::keys("serde", attrs),
            schemars: attr::schemars::keys(attrs),
            named: None,
        };
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
                    all.push(new(Place::Variant, &variant.attrs));
                    // A skipped variant has no JSON.
                    let is_skipped = is_skipped(&variant.attrs);
                    all.extend(variant.fields.iter().filter(|_| !is_skipped).map(field));
                }
            }
            Data::Union(_) => {}
        }
        all
    }

    /// Whether the type is written as another one, and decoded from it.
    pub(crate) fn is_other_type(&self) -> bool {
        let has = |key| self.serde_key(key).is_some();
        has("into") && (has("from") || has("try_from"))
    }

    /// Returns a key of serde.
    pub(crate) fn serde_key(&self, key: &str) -> Option<&Meta> {
        self.serde.iter().find(|meta| meta.path().is_ident(key))
    }

    /// Whether schemars has this key.
    pub(crate) fn has_schemars_key(&self, key: &str) -> bool {
        self.schemars.iter().any(|known| known.path.is_ident(key))
    }
}
