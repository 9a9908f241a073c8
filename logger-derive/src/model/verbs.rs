//! The verbs that `#[genclient]` grants.

use crate::{
    attr::genclient::{Genclient, Method, VerbList},
    grammar::verbs::{METHOD_VERBS, READONLY, STATUS_VERBS, VERBS},
};

/// Returns the marker traits of the verbs that a kind with or without a status has, in the order of [`VERBS`].
pub(crate) fn granted_verbs(client: &Genclient, has_status: bool) -> Vec<&'static str> {
    VERBS.into_iter().filter(|(word, _)| grants(client, word, has_status)).map(|(_, marker)| marker).collect()
}

fn grants(client: &Genclient, word: &str, has_status: bool) -> bool {
    let is_listed =
        |list: &Option<VerbList>| list.as_ref().is_some_and(|VerbList(verbs)| verbs.iter().any(|verb| verb == word));
    !client.no_verbs.is_present()
        && (!STATUS_VERBS.contains(&word) || (has_status && !client.no_status.is_present()))
        && (!client.readonly.is_present() || READONLY.contains(&word))
        && (client.only_verbs.is_none() || is_listed(&client.only_verbs))
        && !is_listed(&client.skip_verbs)
}

/// Returns the row of [`METHOD_VERBS`] for the verb of a method, if it is one.
pub(crate) fn method_verb(method: &Method) -> Option<(&'static str, &'static str, bool)> {
    METHOD_VERBS.into_iter().find(|(verb, ..)| method.verb.is_ident(verb))
}
