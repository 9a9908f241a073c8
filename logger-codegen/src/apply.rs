//! Apply configurations to be generated: from the shapes that the derive left, or from the schemas of k8s-openapi.

pub(crate) mod kubernetes;
mod shapes;

use logger_core::apply::Shape;
use logger_core::meta::{Method, Verb};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::api::{ClientKind, Group};

pub(crate) use shapes::of_group;

/// An apply configuration.
pub(crate) struct Configuration {
    /// Its name, such as `WidgetSpecApply`.
    pub(crate) name: Ident,
    /// What it configures, for docs: a name in code font or a link.
    pub(crate) of: String,
    /// The docs of what it configures.
    pub(crate) docs: String,
    /// `#[serde(rename_all = "..")]`
    pub(crate) rename_all: Option<String>,
    pub(crate) fields: Vec<Field>,
    /// Set for that of a whole kind.
    pub(crate) root: Option<Root>,
}

/// What the configuration of a whole kind has beside its fields.
pub(crate) struct Root {
    /// Path of the kind's type.
    pub(crate) ty: TokenStream,
    pub(crate) is_namespaced: bool,
    /// Those that a configuration can be applied through.
    pub(crate) subresources: Vec<String>,
}

/// A field of a configuration.
pub(crate) struct Field {
    pub(crate) name: Ident,
    /// `#[serde(rename = "..")]`
    pub(crate) rename: Option<String>,
    pub(crate) flatten: bool,
    pub(crate) docs: String,
    pub(crate) ty: Ty,
}

/// What a field holds.
pub(crate) enum Ty {
    /// A `String`.
    Text,
    /// Any other type, replaced as a whole.
    Whole(TokenStream),
    /// Another configuration.
    Configuration(TokenStream),
    /// A list, appended to.
    List(Box<Ty>),
    /// A map with strings for keys, merged into.
    Map(Box<Ty>),
    /// Absent, null or this.
    Nullable(Box<Ty>),
}

/// A name for a type that has no path outside its crate.
pub(crate) struct Alias {
    pub(crate) name: Ident,
    /// Where it is found, for docs.
    pub(crate) of: String,
    pub(crate) ty: TokenStream,
}

/// Whether an apply configuration is generated for this kind.
pub(crate) fn is_applied(kind: &ClientKind) -> bool {
    let verbs = [Verb::Apply, Verb::ApplyStatus];
    let by_method = kind.meta.methods.iter().any(applies_kind);
    kind.meta.apply.is_some() && (by_method || verbs.into_iter().any(|verb| kind.meta.grants(verb)))
}

/// Whether a configuration is generated for this kind or for what one of its methods applies.
pub(crate) fn has_configuration(kind: &ClientKind) -> bool {
    let is_struct = |method: &Method| matches!(method.input.map(|shape| shape()), Some(Shape::Struct(_)));
    is_applied(kind) || kind.meta.methods.iter().any(|method| method.verb == Verb::Apply && is_struct(method))
}

/// Whether a method applies the kind itself, or a part of it.
pub(crate) fn applies_kind(method: &Method) -> bool {
    method.verb == Verb::Apply && !method.has_input
}

/// What a method takes that applies another type: its apply configuration; `None` if it has none, so that it is taken as
/// it is.
pub(crate) fn input(group: &Group, method: &Method) -> Option<TokenStream> {
    match method.input?() {
        Shape::Struct(shape) => {
            let (module, name) = (group.ident(), format_ident!("{}Apply", shape.of.name));
            Some(quote!(crate::applyconfigurations::#module::#name))
        }
        Shape::Kubernetes(schema) => match kubernetes::ty(&schema) {
            Some(Ty::Configuration(path)) => Some(path),
            _ => None,
        },
        _ => None,
    }
}
