//! The keys of `adopt!`.

use darling::{FromMeta, util::Flag};
use quote::ToTokens;
use syn::{Expr, Meta, Path};

use super::{genclient::Genclient, keys::worded};

/// The keys of `adopt!`.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct AdoptKeys {
    #[darling(rename = "crate")]
    pub(crate) krate: Option<Path>,
    pub(crate) built_in: Kinds,
    pub(crate) custom_resources: Kinds,
}

/// The types of `[Pod, a::Widget(status, readonly)]`.
#[derive(Default)]
pub(crate) struct Kinds(pub(crate) Vec<Meta>);

impl FromMeta for Kinds {
    fn from_expr(expr: &Expr) -> darling::Result<Self> {
        let Expr::Array(array) = expr else {
            return Err(worded("expected a list of types, such as `[Pod, Service]`").with_span(expr));
        };
        let mut errors = darling::Error::accumulator();
        let kind = |elem: &Expr| {
            let kind = syn::parse2(elem.to_token_stream()).ok().filter(|meta| !matches!(meta, Meta::NameValue(_)));
            kind.ok_or_else(|| worded("expected a type, such as `Pod`").with_span(elem))
        };
        let kinds = array.elems.iter().filter_map(|elem| errors.handle(kind(elem))).collect();
        errors.finish_with(Kinds(kinds))
    }
}

/// The keys in parentheses after a type of kube's derive.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct CustomResourceKeys {
    pub(crate) status: Flag,
    #[darling(flatten)]
    pub(crate) genclient: Genclient,
}
