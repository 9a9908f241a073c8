//! The common part of kinds and lists: a struct with the fields of an object.

use kubewright_names::case;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Attribute, Data, DeriveInput, Expr, Field, Fields, Generics, Ident, LitStr, Meta, Path, Type, ext::IdentExt,
};

use super::{
    api_type::ApiType,
    rust_type::{inside_vec, is_type_named},
};
use crate::{
    attr::{
        self,
        docs::docs,
        serde::{SerdeContainer, SerdeDefault, SerdeField},
    },
    errors::Errors,
    grammar::fields::{SERDE_FIELD, SERDE_ROOT},
};

/// The common part of kinds and lists.
pub(crate) struct Root {
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    /// The derive that expands it.
    pub(crate) derive: &'static str,
    /// The derives of the type that this derive receives.
    pub(crate) derives: Vec<Path>,
    /// The path of `kubewright_core`.
    pub(crate) krate: TokenStream,
    /// The type whose registration declares the group and version: the type itself, or the kind of a generated list.
    pub(crate) registered: Ident,
    pub(crate) docs: Expr,
    /// The case convention of `#[serde(rename_all = "..")]`.
    pub(crate) rename_all: Option<LitStr>,
    pub(crate) body: Body,
    /// The attributes of kube's derive on the type and its fields.
    pub(crate) kube: Vec<Attribute>,
}

/// The content of a type.
pub(crate) enum Body {
    NamedFields(Vec<RootField>),
    /// What the type is instead.
    Other(&'static str),
}

/// A field of a root struct.
pub(crate) struct RootField {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) json_name: String,
    /// `#[serde(default)]`
    pub(crate) default: Option<SerdeDefault>,
    /// The name that schemars alone would have.
    pub(crate) schemars_rename: Option<Meta>,
    /// All attributes, of which some apply elsewhere.
    pub(crate) attrs: Vec<Attribute>,
}

impl Root {
    pub(super) fn parse(input: &DeriveInput, derive: &'static str, krate: &TokenStream, errors: &mut Errors) -> Self {
        let SerdeContainer { rename_all } = attr::parse(&SERDE_ROOT, &input.attrs, errors);
        let camel_case = rename_all.as_ref().is_some_and(|rule| rule.value() == "camelCase");
        Root {
            ident: input.ident.clone(),
            generics: input.generics.clone(),
            derive,
            derives: attr::derives(&input.attrs),
            krate: krate.clone(),
            registered: input.ident.clone(),
            docs: docs(&input.attrs),
            rename_all,
            body: Body::parse(&input.data, camel_case, errors),
            kube: ApiType::new(input).attributes("kube"),
        }
    }

    /// Returns the name of the type.
    pub(crate) fn name(&self) -> String {
        self.ident.unraw().to_string()
    }

    pub(crate) fn is_generic(&self) -> bool {
        !self.generics.params.is_empty()
    }

    /// Whether the type has a derive of this name.
    pub(crate) fn derives(&self, name: &str) -> bool {
        self.derives.iter().any(|path| attr::is_named(path, name))
    }

    /// Returns the Rust name of the metadata field.
    pub(crate) fn metadata(&self) -> TokenStream {
        self.field("metadata").map_or_else(|| quote!(metadata), |RootField { ident, .. }| quote!(#ident))
    }

    pub(crate) fn has_named_fields(&self) -> bool {
        matches!(self.body, Body::NamedFields(_))
    }

    pub(crate) fn fields(&self) -> &[RootField] {
        match &self.body {
            Body::NamedFields(fields) => fields,
            Body::Other(_) => &[],
        }
    }

    pub(crate) fn field(&self, json_name: &str) -> Option<&RootField> {
        self.fields().iter().find(|field| field.json_name == json_name)
    }

    /// Whether the field is missing from a struct with named fields.
    pub(crate) fn lacks(&self, json_name: &str) -> bool {
        self.has_named_fields() && self.field(json_name).is_none()
    }
}

impl Body {
    fn parse(data: &Data, camel_case: bool, errors: &mut Errors) -> Self {
        match data {
            Data::Struct(data) => match &data.fields {
                Fields::Named(fields) => {
                    let fields = fields.named.iter().filter_map(|field| RootField::parse(field, camel_case, errors));
                    Body::NamedFields(fields.collect())
                }
                Fields::Unnamed(_) => Body::Other("a tuple struct"),
                Fields::Unit => Body::Other("a unit struct"),
            },
            Data::Enum(_) => Body::Other("an enum"),
            Data::Union(_) => Body::Other("a union"),
        }
    }
}

impl RootField {
    fn parse(field: &Field, camel_case: bool, errors: &mut Errors) -> Option<Self> {
        let serde: SerdeField = attr::parse(&SERDE_FIELD, &field.attrs, errors);
        let ident = field.ident.clone()?;
        let rust_name = ident.unraw().to_string();
        let json_name = match serde.rename {
            Some(name) => name.value(),
            None if camel_case => case::camel_case(&rust_name),
            None => rust_name,
        };
        Some(RootField {
            ident,
            ty: field.ty.clone(),
            json_name,
            default: serde.default,
            schemars_rename: attr::key("schemars", "rename", &field.attrs),
            attrs: field.attrs.clone(),
        })
    }

    /// Whether the last segment of its type path is this name.
    pub(crate) fn is_of(&self, name: &str) -> bool {
        is_type_named(&self.ty, &[name])
    }

    /// Returns the `T` of a field of type `Vec<T>`.
    pub(crate) fn vec_item(&self) -> Option<&Type> {
        inside_vec(&self.ty)
    }
}
