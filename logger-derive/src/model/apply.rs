//! A type that derives `ApplyConfiguration`: its fields as they are applied.

use proc_macro2::TokenStream;
use syn::{Attribute, Data, DeriveInput, Expr, Field, Fields, Generics, Ident, LitStr, Type, ext::IdentExt};

use super::serde::{SerdeAttrs, SerdeItem};
use crate::{
    attr::{
        self,
        apply::{FieldAttr, TypeAttr},
        docs::docs,
    },
    errors::Errors,
    grammar::fields::{APPLY, APPLY_FIELD},
};

/// A type that derives `ApplyConfiguration`.
pub(crate) struct AppliedType {
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    /// The path of `kubewright_core`.
    pub(crate) krate: TokenStream,
    pub(crate) docs: Expr,
    /// `#[serde(rename_all = "..")]`
    pub(crate) rename_all: Option<LitStr>,
    pub(crate) items: Vec<SerdeItem>,
    pub(crate) body: AppliedBody,
}

/// The content of a type.
pub(crate) enum AppliedBody {
    /// A struct whose fields are applied one by one.
    Struct(Vec<AppliedField>),
    /// A type that is applied atomically: an enum, a tuple struct, a unit struct, or a struct with another encoding.
    Atomic {
        /// The `#[apply(..)]` attributes of its fields, which have no effect.
        unused: Vec<Attribute>,
    },
    Union,
}

/// A serialized field.
pub(crate) struct AppliedField {
    pub(crate) index: usize,
    /// The Rust name.
    pub(crate) name: Option<String>,
    pub(crate) ty: Type,
    pub(crate) docs: Expr,
    pub(crate) atomic: bool,
    /// The JSON name of `#[serde(rename = "..")]`.
    pub(crate) rename: Option<LitStr>,
    pub(crate) flatten: bool,
}

impl AppliedType {
    pub(crate) fn parse(input: &DeriveInput, krate: &TokenStream, errors: &mut Errors) -> Self {
        let TypeAttr { krate: _ } = attr::parse(&APPLY, &input.attrs, errors);
        let serde = SerdeAttrs::new(&input.attrs);
        AppliedType {
            ident: input.ident.clone(),
            generics: input.generics.clone(),
            krate: krate.clone(),
            docs: docs(&input.attrs),
            rename_all: serde.literal("rename_all"),
            items: SerdeItem::all(input),
            body: AppliedBody::parse(input, &serde, errors),
        }
    }

    /// Returns the name of the type.
    pub(crate) fn name(&self) -> String {
        self.ident.unraw().to_string()
    }
}

impl AppliedBody {
    fn parse(input: &DeriveInput, serde: &SerdeAttrs, errors: &mut Errors) -> Self {
        let fields = attr::fields(&input.data);
        match &input.data {
            Data::Struct(data) if matches!(data.fields, Fields::Named(_)) && !serde.has_other_encoding() => {
                let parse = |(i, field): (usize, &&Field)| AppliedField::parse(i, field, errors);
                AppliedBody::Struct(fields.iter().enumerate().filter_map(parse).collect())
            }
            Data::Struct(_) | Data::Enum(_) => {
                let unused = fields.into_iter().flat_map(|field| attr::named("apply", &field.attrs)).cloned();
                AppliedBody::Atomic { unused: unused.collect() }
            }
            Data::Union(_) => AppliedBody::Union,
        }
    }
}

impl AppliedField {
    /// Parses a field; `None` is returned for one that is not in JSON.
    fn parse(index: usize, field: &Field, errors: &mut Errors) -> Option<Self> {
        let FieldAttr { atomic } = attr::parse(&APPLY_FIELD, &field.attrs, errors);
        let serde = SerdeAttrs::new(&field.attrs);
        (!serde.has_any(&["skip", "skip_serializing"])).then(|| AppliedField {
            index,
            name: field.ident.as_ref().map(|ident| ident.unraw().to_string()),
            ty: field.ty.clone(),
            docs: docs(&field.attrs),
            atomic: atomic.is_present(),
            rename: serde.literal("rename"),
            flatten: serde.has("flatten"),
        })
    }
}
