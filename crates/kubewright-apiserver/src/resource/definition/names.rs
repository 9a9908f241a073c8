//! The names of definitions, which are unique within a group: the first definition that requests a name gets it.
//!
//! The rules are those of the naming controller (`pkg/controller/status` of apiextensions-apiserver 1.36): a definition
//! retains its accepted names, and gets the requested names that are available.

use std::collections::BTreeSet;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinitionNames as Names;

use super::conditions::Condition;

/// The accepted names of the definitions of a group.
#[derive(Debug, Default)]
pub(crate) struct UsedNames {
    resources: BTreeSet<String>,
    kinds: BTreeSet<String>,
}

impl UsedNames {
    pub(crate) fn add(&mut self, names: &Names) {
        self.resources.insert(names.plural.clone());
        self.resources.insert(text(names.singular.as_ref()).to_owned());
        self.resources.extend(names.short_names.iter().flatten().cloned());
        self.kinds.insert(names.kind.clone());
        self.kinds.insert(text(names.list_kind.as_ref()).to_owned());
    }
}

/// Determines the accepted names of a definition, and the condition `NamesAccepted`. Of several conflicts the last one
/// is reported.
pub(crate) fn accept(requested: &Names, accepted: &Names, taken: &UsedNames) -> (Names, Condition) {
    let mut conflict = None;
    let plural = accept_name("PluralConflict", &requested.plural, &accepted.plural, &taken.resources, &mut conflict);
    let (singular, list_kind) = (text(requested.singular.as_ref()), text(requested.list_kind.as_ref()));
    let accepted_singular = text(accepted.singular.as_ref());
    let singular = accept_name("SingularConflict", singular, accepted_singular, &taken.resources, &mut conflict);
    let short_conflict = short_name_conflict(requested, accepted, taken);
    let short_names = if short_conflict.is_none() { &requested.short_names } else { &accepted.short_names }.clone();
    conflict = short_conflict.or(conflict);
    let kind = accept_name("KindConflict", &requested.kind, &accepted.kind, &taken.kinds, &mut conflict);
    let accepted_list_kind = text(accepted.list_kind.as_ref());
    let list_kind = accept_name("ListKindConflict", list_kind, accepted_list_kind, &taken.kinds, &mut conflict);
    let condition = conflict.unwrap_or_else(Condition::names_accepted);
    let set = |name: String| Some(name).filter(|name| !name.is_empty());
    let categories = requested.categories.clone();
    (Names { plural, singular: set(singular), short_names, kind, list_kind: set(list_kind), categories }, condition)
}

/// Returns the requested name if it is available; otherwise the current one, and the conflict.
fn accept_name(
    reason: &'static str,
    requested: &str,
    accepted: &str,
    taken: &BTreeSet<String>,
    conflict: &mut Option<Condition>,
) -> String {
    if requested == accepted || !taken.contains(requested) {
        return requested.to_owned();
    }
    *conflict = Some(Condition::names_taken(reason, &in_use(requested)));
    accepted.to_owned()
}

/// Returns whether the names are equal. A missing list equals an empty one.
pub(crate) fn are_same(left: &Names, right: &Names) -> bool {
    let lists = |names: &Names| {
        let list = |list: &Option<Vec<String>>| list.clone().unwrap_or_default();
        (list(&names.short_names), list(&names.categories))
    };
    let others = |names: &Names| Names { short_names: None, categories: None, ..names.clone() };
    lists(left) == lists(right) && others(left) == others(right)
}

/// Returns the condition for conflicting short names: either all new short names are accepted or none.
fn short_name_conflict(requested: &Names, accepted: &Names, taken: &UsedNames) -> Option<Condition> {
    let existing = accepted.short_names.as_deref().unwrap_or_default();
    let new = requested.short_names.iter().flatten().filter(|name| !existing.contains(name));
    let conflicts: Vec<String> = new.filter(|name| taken.resources.contains(*name)).map(|name| in_use(name)).collect();
    let message = match conflicts.as_slice() {
        [] => return None,
        [error] => error.clone(),
        several => format!("[{}]", several.join(", ")),
    };
    Some(Condition::names_taken("ShortNamesConflict", &message))
}

fn in_use(name: &str) -> String {
    format!("{name:?} is already in use")
}

fn text(name: Option<&String>) -> &str {
    name.map_or("", String::as_str)
}
