//! A type that derives `DeepCopy`: its fields with the way in which each is copied.

use darling::util::PathList;
use proc_macro2::TokenStream;
use syn::{Attribute, Data, DeriveInput, Field, Fields, Generics, Ident, Index, Member, Type};

use crate::{
    attr::{
        self,
        deep_copy::{FieldAttr, TypeAttr},
    },
    errors::Errors,
    grammar::fields::{DEEP_COPY, DEEP_COPY_FIELD},
};

/// A type that derives `DeepCopy`.
pub(crate) struct CopiedType {
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    /// The path of `kubewright_core`.
    pub(crate) krate: TokenStream,
    /// The traits as whose objects the type can be copied.
    pub(crate) traits: PathList,
    pub(crate) body: CopiedBody,
    /// The `#[default(..)]` attributes that have no effect, because the type has no `#[kubewright::defaults]`.
    pub(crate) unused_defaults: Vec<Attribute>,
}

/// The content of a type.
pub(crate) enum CopiedBody {
    Struct(Vec<CopiedField>),
    Enum(Vec<(Ident, Vec<CopiedField>)>),
    Union,
}

/// A field with the way in which it is copied.
pub(crate) struct CopiedField {
    pub(crate) member: Member,
    pub(crate) ty: Type,
    /// Whether it is copied by `Clone`, which the user declares to be deep.
    pub(crate) clone: bool,
}

impl CopiedType {
    pub(crate) fn parse(input: &DeriveInput, krate: &TokenStream, errors: &mut Errors) -> Self {
        let TypeAttr { krate: _, traits } = attr::parse(&DEEP_COPY, &input.attrs, errors);
        let body = match &input.data {
            Data::Struct(data) => CopiedBody::Struct(CopiedField::parse_all(&data.fields, errors)),
            Data::Enum(data) => {
                let variants = data.variants.iter();
                let parse =
                    |variant: &syn::Variant| (variant.ident.clone(), CopiedField::parse_all(&variant.fields, errors));
                CopiedBody::Enum(variants.map(parse).collect())
            }
            Data::Union(_) => CopiedBody::Union,
        };
        CopiedType {
            ident: input.ident.clone(),
            generics: input.generics.clone(),
            krate: krate.clone(),
            traits,
            body,
            unused_defaults: unused_defaults(input),
        }
    }
}

fn unused_defaults(input: &DeriveInput) -> Vec<Attribute> {
    // An attribute below the derive reports its wrong position itself.
    if input.attrs.iter().any(|attr| attr::is_named(attr.path(), "defaults")) {
        return Vec::new();
    }
    let fields = attr::fields(&input.data).into_iter();
    fields.flat_map(|field| attr::named("default", &field.attrs)).cloned().collect()
}

impl CopiedField {
    fn parse_all(fields: &Fields, errors: &mut Errors) -> Vec<Self> {
        fields.iter().enumerate().map(|(i, field)| CopiedField::parse(i, field, errors)).collect()
    }

    fn parse(i: usize, field: &Field, errors: &mut Errors) -> Self {
        let FieldAttr { clone } = attr::parse(&DEEP_COPY_FIELD, &field.attrs, errors);
        CopiedField {
            member: field.ident.clone().map_or_else(|| Member::Unnamed(Index::from(i)), Member::Named),
            ty: field.ty.clone(),
            clone: clone.is_present(),
        }
    }
}
