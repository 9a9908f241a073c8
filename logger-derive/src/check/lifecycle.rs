//! The checks of `#[k8s(lifecycle(..))]`.

use syn::LitStr;

use crate::{
    attr::k8s::Lifecycle,
    errors::Errors,
    model::{Kind, release},
};

/// Checks that releases are `major.minor` and in order, and that the replacement is another kind.
pub(super) fn check(kind: &Kind, errors: &mut Errors) {
    let Some(lifecycle) = &kind.k8s.lifecycle else {
        return;
    };
    let Lifecycle { introduced, deprecated, removed, replacement } = lifecycle;
    for literal in [Some(introduced), deprecated.as_ref(), removed.as_ref()].into_iter().flatten() {
        if release(literal).is_none() {
            errors.push(literal, "invalid release: expected `major.minor`, such as `1.2`");
        }
    }
    let at = |literal: Option<&LitStr>| literal.and_then(release);
    if let (Some(introduced), Some(deprecated)) = (at(Some(introduced)), at(deprecated.as_ref()))
        && deprecated < introduced
    {
        errors.push(
            &lifecycle.deprecated,
            "invalid lifecycle: deprecated before it is introduced; use a release not earlier than `introduced`",
        );
    }
    if let (Some(deprecated), Some(removed)) = (at(deprecated.as_ref()), at(removed.as_ref()))
        && removed <= deprecated
    {
        errors.push(
            &lifecycle.removed,
            "invalid lifecycle: removed no later than it is deprecated; use a release after `deprecated`",
        );
    }
    if let (Some(introduced), None, Some(removed)) = (at(Some(introduced)), deprecated, at(removed.as_ref()))
        && removed <= introduced
    {
        errors.push(
            &lifecycle.removed,
            "invalid lifecycle: removed no later than it is introduced; use a release after `introduced`",
        );
    }
    if let Some(path) = replacement
        && path.is_ident(&kind.root.ident)
    {
        errors.push(path, "a kind cannot replace itself; use the path of another kind");
    }
}
