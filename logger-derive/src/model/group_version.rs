//! A version of an API group, as `group_version!` declares it.

use darling::ast::NestedMeta;
use proc_macro2::TokenStream;
use syn::{Expr, Ident, LitStr, Meta, Path};

use crate::attr::{
    self,
    group_version::{GroupVersionKeys, Kinds, Listed},
};

/// A version of an API group.
pub(crate) struct Declaration {
    /// The path of `kubewright_core`.
    pub(crate) krate: TokenStream,
    pub(crate) group: Option<LitStr>,
    pub(crate) version: Option<LitStr>,
    pub(crate) group_ident: Option<LitStr>,
    pub(crate) kinds: Option<Vec<Listed<Ident>>>,
    /// The types in the values of all keys: those that a rejected declaration lists.
    pub(crate) types: Vec<Listed<Path>>,
}

impl Declaration {
    pub(crate) fn new(keys: GroupVersionKeys, items: &[NestedMeta], krate: TokenStream) -> Self {
        let GroupVersionKeys { krate: _, group, version, group_ident, kinds } = keys;
        let kinds = kinds.map(|Kinds(kinds)| kinds);
        Declaration { krate, group, version, group_ident, kinds, types: types(items) }
    }

    pub(crate) fn group(&self) -> String {
        self.group.as_ref().map_or_else(String::new, LitStr::value)
    }

    pub(crate) fn version(&self) -> String {
        self.version.as_ref().map_or_else(String::new, LitStr::value)
    }

    pub(crate) fn api_version(&self) -> String {
        let (group, version) = (self.group(), self.version());
        if group.is_empty() { version } else { format!("{group}/{version}") }
    }

    pub(crate) fn kinds(&self) -> &[Listed<Ident>] {
        self.kinds.as_deref().unwrap_or_default()
    }
}

/// Returns the types in the values of all keys other than `crate`.
fn types(items: &[NestedMeta]) -> Vec<Listed<Path>> {
    let mut types = Vec::new();
    for item in items {
        let NestedMeta::Meta(Meta::NameValue(pair)) = item else {
            continue;
        };
        let values: Vec<_> = match &pair.value {
            Expr::Array(array) => array.elems.iter().collect(),
            value => vec![value],
        };
        for value in values {
            let Expr::Path(path) = value else { continue };
            let cfgs = attr::named("cfg", &path.attrs).cloned().collect();
            let listed = Listed { cfgs, ty: path.path.clone() };
            if !pair.path.is_ident("crate") && !types.contains(&listed) {
                types.push(listed);
            }
        }
    }
    types
}
