//! The names of definitions: in a group each belongs to the first that wants it.
//!
//! As the naming controller of the real server accepts them (`pkg/controller/status` of apiextensions-apiserver 1.36): a definition keeps the names it was
//! given, and of those it wants it gets the ones that are free.

use std::collections::BTreeSet;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinitionNames as Names;

use super::conditions::Condition;

/// The names that the definitions of a group were given.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    resources: BTreeSet<String>,
    kinds: BTreeSet<String>,
}

impl Taken {
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
pub(crate) fn accept(wanted: &Names, has: &Names, taken: &Taken) -> (Names, Condition) {
    let mut conflict = None;
    let plural = decide("PluralConflict", &wanted.plural, &has.plural, &taken.resources, &mut conflict);
    let (singular, list_kind) = (text(wanted.singular.as_ref()), text(wanted.list_kind.as_ref()));
    let has_singular = text(has.singular.as_ref());
    let singular = decide("SingularConflict", singular, has_singular, &taken.resources, &mut conflict);
    let short_conflict = short_name_conflict(wanted, has, taken);
    let short_names = if short_conflict.is_none() { &wanted.short_names } else { &has.short_names }.clone();
    conflict = short_conflict.or(conflict);
    let kind = decide("KindConflict", &wanted.kind, &has.kind, &taken.kinds, &mut conflict);
    let has_list_kind = text(has.list_kind.as_ref());
    let list_kind = decide("ListKindConflict", list_kind, has_list_kind, &taken.kinds, &mut conflict);
    let condition = conflict.unwrap_or_else(Condition::names_accepted);
    let set = |name: String| Some(name).filter(|name| !name.is_empty());
    let categories = wanted.categories.clone();
    (Names { plural, singular: set(singular), short_names, kind, list_kind: set(list_kind), categories }, condition)
}

/// Returns the requested name if it is available; otherwise the current one, and the conflict.
fn decide(
    reason: &'static str,
    wanted: &str,
    has: &str,
    taken: &BTreeSet<String>,
    conflict: &mut Option<Condition>,
) -> String {
    if wanted == has || !taken.contains(wanted) {
        return wanted.to_owned();
    }
    *conflict = Some(Condition::names_taken(reason, &in_use(wanted)));
    has.to_owned()
}

/// Whether these are the same names: none are as good as an empty list.
pub(crate) fn are_same(left: &Names, right: &Names) -> bool {
    let lists = |names: &Names| {
        let list = |list: &Option<Vec<String>>| list.clone().unwrap_or_default();
        (list(&names.short_names), list(&names.categories))
    };
    let others = |names: &Names| Names { short_names: None, categories: None, ..names.clone() };
    lists(left) == lists(right) && others(left) == others(right)
}

/// All short names are given, or none of those that are new.
fn short_name_conflict(wanted: &Names, has: &Names, taken: &Taken) -> Option<Condition> {
    let own = has.short_names.as_deref().unwrap_or_default();
    let new = wanted.short_names.iter().flatten().filter(|name| !own.contains(name));
    let conflicts: Vec<String> = new.filter(|name| taken.resources.contains(*name)).map(|name| in_use(name)).collect();
    let message = match conflicts.as_slice() {
        [] => return None,
        [one] => one.clone(),
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
