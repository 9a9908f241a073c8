//! The checks of the verbs of `#[genclient(..)]`.

use quote::ToTokens;

use crate::{
    attr::genclient::{Genclient, VerbList},
    errors::Errors,
    grammar::verbs::STATUS_VERBS,
    model::Kind,
};

/// Checks that the keys for verbs do not conflict, and that listed verbs of the status have a status subresource.
pub(super) fn check(kind: &Kind, errors: &mut Errors) {
    let Some((attr, client)) = &kind.genclient else { return };
    check_conflicts(attr, client, errors);
    check_status_verbs(client, kind.has_status(), "`#[k8s(subresource(status))]`", errors);
}

/// `no_verbs`, `readonly`, `only_verbs` and `skip_verbs` exclude each other.
pub(super) fn check_conflicts(at: impl ToTokens, client: &Genclient, errors: &mut Errors) {
    let set = [
        (client.no_verbs.is_present(), "no_verbs"),
        (client.readonly.is_present(), "readonly"),
        (client.only_verbs.is_some(), "only_verbs"),
        (client.skip_verbs.is_some(), "skip_verbs"),
    ];
    let set: Vec<_> = set.into_iter().filter(|(is_set, _)| *is_set).map(|(_, word)| format!("`{word}`")).collect();
    if set.len() > 1 {
        errors.push(at, format_args!("{} exclude each other; keep one", set.join(" and ")));
    }
}

/// A listed verb of the status requires a status subresource, which `add` enables.
pub(super) fn check_status_verbs(client: &Genclient, has_status: bool, add: &str, errors: &mut Errors) {
    let lists = [&client.only_verbs, &client.skip_verbs].into_iter().flatten();
    for verb in lists.flat_map(|VerbList(verbs)| verbs).filter(|verb| STATUS_VERBS.iter().any(|word| *verb == word)) {
        if client.no_status.is_present() {
            errors.push(verb, format_args!("conflicts with `no_status`, which removes `{verb}`; keep one of the two"));
        } else if !has_status {
            errors.push(
                verb,
                format_args!("`{verb}` requires the status subresource and its field; add {add} or remove this"),
            );
        }
    }
}
