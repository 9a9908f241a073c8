//! Apply configurations to be generated: from the shapes that the derive left, or from the schemas of k8s-openapi.

pub(crate) mod kubernetes;
mod shapes;

use logger_core::meta::Verb;
use proc_macro2::{Ident, TokenStream};

use crate::api::ClientKind;

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
    let by_method = kind.meta.methods.iter().any(|method| method.verb == Verb::Apply && !method.has_input);
    kind.meta.apply.is_some() && (by_method || verbs.into_iter().any(|verb| kind.meta.grants(verb)))
}
