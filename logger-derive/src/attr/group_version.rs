//! The keys of `group_version!`.

use darling::FromMeta;
use syn::{Attribute, Expr, Ident, LitStr, Path};

use super::keys::worded;

/// The keys of `group_version!`.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct GroupVersionKeys {
    #[darling(rename = "crate")]
    pub(crate) krate: Option<Path>,
    pub(crate) group: Option<LitStr>,
    pub(crate) version: Option<LitStr>,
    pub(crate) group_ident: Option<LitStr>,
    pub(crate) kinds: Option<Kinds>,
}

/// `[Widget, #[cfg(feature = "list")] WidgetList]`
#[derive(Default)]
pub(crate) struct Kinds(pub(crate) Vec<Listed<Ident>>);

/// A listed type, with its `cfg` attributes.
#[derive(PartialEq)]
pub(crate) struct Listed<T> {
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) ty: T,
}

impl FromMeta for Kinds {
    fn from_expr(expr: &Expr) -> darling::Result<Self> {
        let Expr::Array(array) = expr else {
            return Err(worded("expected a list of types: `kinds = [Widget, WidgetList]`").with_span(expr));
        };
        let mut errors = darling::Error::accumulator();
        let kinds = array.elems.iter().filter_map(|elem| errors.handle(plain_name(elem))).collect();
        errors.finish_with(Kinds(kinds))
    }
}

fn plain_name(expr: &Expr) -> darling::Result<Listed<Ident>> {
    let message = "expected the name of a type in this module; re-export types of other modules here with `pub use`";
    let error = || worded(message).with_span(expr);
    let Expr::Path(path) = expr else { return Err(error()) };
    if let Some(attr) = path.attrs.iter().find(|attr| !attr.path().is_ident("cfg")) {
        let message = "unsupported attribute: a listed type can have `#[cfg(..)]` only; remove it";
        return Err(worded(message).with_span(attr));
    }
    let ty = path.path.get_ident().cloned().ok_or_else(error)?;
    Ok(Listed { cfgs: path.attrs.clone(), ty })
}
