//! A struct that derives `ObjectList`.

use proc_macro2::TokenStream;
use syn::{Attribute, DeriveInput, Ident, Type};

use super::root::{Root, RootField};
use crate::{
    attr::{self, k8s::K8sList},
    errors::Errors,
    grammar::k8s::LIST,
};

/// A struct that derives `ObjectList`.
pub(crate) struct List {
    pub(crate) root: Root,
    pub(crate) k8s: K8sList,
    /// The `#[genclient]` attributes, which apply to kinds.
    pub(crate) genclient: Vec<Attribute>,
}

impl List {
    pub(crate) fn parse(input: &DeriveInput, krate: &TokenStream, errors: &mut Errors) -> Self {
        let k8s: K8sList = attr::parse(&LIST, &input.attrs, errors);
        let genclient = attr::named("genclient", &input.attrs).cloned().collect();
        List { root: Root::parse(input, "ObjectList", krate, errors), k8s, genclient }
    }

    /// Returns the field other than the metadata.
    pub(crate) fn items(&self) -> Option<&RootField> {
        self.root.fields().iter().find(|field| field.json_name != "metadata")
    }

    /// Returns the type of the items.
    pub(crate) fn item(&self) -> Option<&Type> {
        self.items().and_then(RootField::vec_item)
    }

    /// Returns `Widget` for `WidgetList`, with the span of the latter.
    pub(crate) fn kind_by_name(&self) -> Option<Ident> {
        let name = self.root.name();
        let kind = name.strip_suffix("List").filter(|kind| !kind.is_empty())?;
        Some(Ident::new(kind, self.root.ident.span()))
    }

    /// Whether its name is that of the type of its items and `List`.
    pub(crate) fn is_named_after(&self, item: &Type) -> bool {
        let Type::Path(item) = attr::ungrouped_type(item) else { return false };
        self.kind_by_name().is_some_and(|kind| attr::is_named(&item.path, &kind.to_string()))
    }
}
