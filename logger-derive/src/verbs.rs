//! The verbs of `#[genclient]`: the operations that the client of a kind has.

use quote::ToTokens;

use crate::{
    attr::genclient::{Genclient, VerbList},
    errors::Errors,
    grammar::verbs::{READONLY, STATUS_VERBS, VERBS},
    model::Kind,
};

impl Kind {
    /// Whether its client can write the status: without the field it would clear the status that others write.
    fn has_status(&self) -> bool {
        self.k8s.subresource.status.is_present() && !self.root.lacks("status")
    }

    /// Returns the marker traits of the granted verbs, in the order of [`VERBS`].
    pub(crate) fn verbs(&self) -> Vec<&'static str> {
        let of = |(_, client): &(_, Genclient)| client.verbs(self.has_status());
        self.genclient.as_ref().map_or_else(Vec::new, of)
    }
}

impl Genclient {
    /// Returns the marker traits of the verbs that this grants a kind with or without a status, in the order of
    /// [`VERBS`].
    pub(crate) fn verbs(&self, has_status: bool) -> Vec<&'static str> {
        VERBS.into_iter().filter(|(word, _)| self.grants(word, has_status)).map(|(_, marker)| marker).collect()
    }

    fn grants(&self, word: &str, has_status: bool) -> bool {
        let is_listed = |list: &Option<VerbList>| {
            list.as_ref().is_some_and(|VerbList(verbs)| verbs.iter().any(|verb| verb == word))
        };
        !self.no_verbs.is_present()
            && (!STATUS_VERBS.contains(&word) || (has_status && !self.no_status.is_present()))
            && (!self.readonly.is_present() || READONLY.contains(&word))
            && (self.only_verbs.is_none() || is_listed(&self.only_verbs))
            && !is_listed(&self.skip_verbs)
    }
}

/// Checks that the keys for verbs do not conflict, and that listed verbs of the status have a status subresource.
pub(crate) fn check(kind: &Kind, errors: &mut Errors) {
    let Some((attr, client)) = &kind.genclient else { return };
    check_conflicts(attr, client, errors);
    let missing = match kind.k8s.subresource.status.is_present() {
        true => "the field `pub status: Option<..>`",
        false => "`#[k8s(subresource(status))]`",
    };
    check_status_verbs(client, kind.has_status(), missing, errors);
}

/// `no_verbs`, `readonly`, `only_verbs` and `skip_verbs` exclude each other.
pub(crate) fn check_conflicts(at: impl ToTokens, client: &Genclient, errors: &mut Errors) {
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
pub(crate) fn check_status_verbs(client: &Genclient, has_status: bool, add: &str, errors: &mut Errors) {
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
