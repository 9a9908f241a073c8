//! The model of apply configurations: from the shapes that the derives declare, or from the schemas of k8s-openapi.

pub(crate) mod kubernetes;
mod shapes;

use kubewright_core::{
    apply::Shape,
    meta::{ClientVerb, Method},
};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::api::{Api, ClientKind, Group};

pub(crate) use shapes::configurations_of_group;

/// An apply configuration.
pub(crate) struct Configuration {
    /// Its name, such as `WidgetSpecApply`.
    pub(crate) name: Ident,
    /// The configured type for documentation: a name in code font or a link.
    pub(crate) target: String,
    /// The documentation of the configured type.
    pub(crate) docs: String,
    /// `#[serde(rename_all = "..")]`
    pub(crate) rename_all: Option<String>,
    pub(crate) fields: Vec<Field>,
    /// Set for the configuration of a kind.
    pub(crate) root: Option<Root>,
}

/// The properties of the configuration of a kind.
pub(crate) struct Root {
    /// Path of the kind's type.
    pub(crate) ty: TokenStream,
    pub(crate) is_namespaced: bool,
    /// The subresources that a configuration can be applied through.
    pub(crate) subresources: Vec<String>,
}

/// A field of a configuration.
pub(crate) struct Field {
    pub(crate) name: Ident,
    /// `#[serde(rename = "..")]`
    pub(crate) rename: Option<String>,
    pub(crate) flatten: bool,
    pub(crate) docs: String,
    pub(crate) ty: FieldType,
}

/// The type of a field.
pub(crate) enum FieldType {
    /// A `String`.
    String,
    /// Any other type without an apply configuration. It is replaced atomically.
    Atomic(TokenStream),
    /// Another configuration.
    Configuration(TokenStream),
    /// A configuration that contains the one of the field, so that it has a finite size only in a box.
    Boxed(TokenStream),
    /// A list, which the builder appends to.
    List(Box<FieldType>),
    /// A map with string keys, which the builder merges into.
    Map(Box<FieldType>),
    /// Absent, null or a value.
    Nullable(Box<FieldType>),
}

/// A name for a type that has no path outside its crate.
pub(crate) struct Alias {
    pub(crate) name: Ident,
    /// Its documentation.
    pub(crate) docs: String,
    pub(crate) ty: TokenStream,
}

/// Returns the groups with an apply configuration for at least one of their kinds.
pub(crate) fn applied_groups(api: &Api) -> impl Iterator<Item = &Group> {
    api.client_groups().filter(|group| group.kinds.iter().any(has_configuration))
}

/// Whether an apply configuration is generated for this kind.
pub(crate) fn is_applied(kind: &ClientKind) -> bool {
    let verbs = [ClientVerb::Apply, ClientVerb::ApplyStatus];
    let by_method = kind.meta.methods.iter().any(applies_kind);
    kind.meta.apply.is_some() && (by_method || verbs.into_iter().any(|verb| kind.meta.grants(verb)))
}

/// Whether an apply configuration is generated for this kind or for the input of one of its methods.
fn has_configuration(kind: &ClientKind) -> bool {
    let is_struct = |method: &Method| matches!(method.input.map(|shape| shape()), Some(Shape::Struct(_)));
    is_applied(kind) || kind.meta.methods.iter().any(|method| method.verb == ClientVerb::Apply && is_struct(method))
}

/// Whether a method applies the kind, or a subresource of it.
pub(crate) fn applies_kind(method: &Method) -> bool {
    method.verb == ClientVerb::Apply && !method.has_input
}

/// Returns the apply configuration of the input of a method; `None` if the input type has none.
pub(crate) fn input_configuration(group: &Group, method: &Method) -> Option<TokenStream> {
    match method.input?() {
        Shape::Struct(shape) => {
            let (client, module, name) = (&group.client, group.ident(), format_ident!("{}Apply", shape.rust_type.name));
            Some(quote!(#client::applyconfigurations::#module::#name))
        }
        Shape::Kubernetes(schema) => match kubernetes::field_type(&schema) {
            Some(FieldType::Configuration(path)) => Some(path),
            _ => None,
        },
        _ => None,
    }
}
