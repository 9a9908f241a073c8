//! Rules across the kinds and groups of an API: no conflicting names, and every type that a client needs.

use std::collections::{BTreeMap, BTreeSet};

use kubewright_core::meta::{ApiGroup, ApiKind, ClientVerb};

use super::Group;
use crate::{
    diagnostic::{Diagnostics, RustItem},
    names,
};

/// Checks what `group_version!` and the derives declare.
pub(super) fn declarations(groups: &[ApiGroup], errors: &mut Diagnostics) {
    duplicates(groups, errors);
    for group in groups {
        list_types(group, errors);
        apply_configurations(group, errors);
    }
}

/// Checks that the names of generated modules, getters and types are unique. The groups are sorted by module.
pub(super) fn generated_names(groups: &[Group], errors: &mut Diagnostics) {
    for group in groups {
        getters_and_types(group, errors);
    }
    for pair in groups.windows(2) {
        let (first, second) = (&pair[0], &pair[1]);
        let is_duplicate = first.meta.group == second.meta.group && first.meta.version == second.meta.version;
        if first.module != second.module || is_duplicate {
            continue;
        }
        let message = format!(
            "its generated module `{}` has the name of that of `{}`; set `group_ident = \"{}\"` in its \
             `group_version!`",
            second.module,
            first.meta.group,
            names::snake_group(second.meta.group)
        );
        errors.push(RustItem::from_group(&second.meta).about("group"), message);
    }
}

/// A list is decoded into its type, so a kind whose client lists needs a list type.
fn list_types(group: &ApiGroup, errors: &mut Diagnostics) {
    let lists = |kind: &&ApiKind| kind.grants(ClientVerb::List) && kind.schema.is_some();
    for kind in group.kinds().filter(lists).filter(|kind| group.list_of(kind).is_none()) {
        let message = format!(
            "its client has `list`, but no list type is registered: derive `ObjectList` on a struct with `items: \
             Vec<{}>` and add it to `kinds` of the `group_version!` of its module",
            kind.rust_name
        );
        errors.push(RustItem::from_kind(group, kind), message);
    }
}

/// A method that applies the kind takes its apply configuration, so the kind needs one.
fn apply_configurations(group: &ApiGroup, errors: &mut Diagnostics) {
    for kind in group.kinds().filter(|kind| kind.apply.is_none()) {
        for method in kind.methods.iter().filter(|method| method.verb == ClientVerb::Apply && !method.has_input) {
            let message = format!(
                "its method `{}` takes its apply configuration: derive `ApplyConfiguration` on it, or set `input = ..` \
                 on the method",
                method.name
            );
            errors.push(RustItem::from_kind(group, kind), message);
        }
    }
}

/// Kinds with different names can still result in the same generated name.
fn getters_and_types(group: &Group, errors: &mut Diagnostics) {
    let mut getters = BTreeMap::new();
    let mut types: BTreeMap<_, _> =
        ["Client", "Informers"].map(|suffix| (group.type_named(suffix).to_string(), "the group itself")).into();
    for kind in &group.kinds {
        let name = kind.meta.kind;
        let item = RustItem::from_kind(&group.meta, &kind.meta);
        for getter in [kind.getter.to_string(), kind.all_getter().to_string()] {
            if let Some(other) = getters.insert(getter.clone(), name).filter(|other| *other != name) {
                let message =
                    format!("its getter `{getter}` conflicts with that of `{other}`; set `#[k8s(plural = ..)]`");
                errors.push(&item, message);
            }
        }
        for suffix in ["Client", "Lister", "NamespaceLister", "Informer"] {
            let ty = kind.type_named(suffix).to_string();
            if let Some(other) = types.insert(ty.clone(), name).filter(|other| *other != name) {
                errors.push(
                    &item,
                    format!("its generated type `{ty}` conflicts with that of {other}; rename one of them"),
                );
            }
        }
    }
}

/// A version of a group is declared once, and its names are unique: the server compares plural, singular and short
/// names with each other, and kinds and list kinds with each other, across the versions of a group.
fn duplicates(groups: &[ApiGroup], errors: &mut Diagnostics) {
    let (mut versions, mut kinds, mut names) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for group in groups {
        if let Some(other) = versions.insert((group.group, group.version), group.module) {
            let message = format!("{}/{} is also declared in `{other}`; declare it once", group.group, group.version);
            errors.push(RustItem::from_group(group).about("version"), message);
            continue;
        }
        for kind in group.kinds() {
            let item = RustItem::from_kind(group, kind);
            if let Some(other) = kinds.insert((group.group, group.version, kind.kind), kind.rust_name) {
                errors.push(&item, format!("its kind `{}` is also that of `{other}`; remove one of them", kind.kind));
            }
            for (category, name) in names_of(group, kind) {
                let other = *names.entry((group.group, category, name.clone())).or_insert(kind.kind);
                if other != kind.kind {
                    let message = format!("its {category} `{name}` conflicts with `{other}`; rename one of them");
                    errors.push(item.about(&name), list_of_other(group, &name).unwrap_or(message));
                }
            }
        }
    }
}

/// Returns the message about a list that has the name of the list of another kind.
fn list_of_other(group: &ApiGroup, name: &str) -> Option<String> {
    let owner = name.strip_suffix("List")?;
    let list = group.lists().find(|list| list.kind == name && list.item != owner)?;
    Some(format!(
        "`{name}` is the list of `{}`, and has the name of the list of `{owner}`; change its items to `Vec<{owner}>`, or \
         rename it",
        list.item
    ))
}

fn names_of(group: &ApiGroup, kind: &ApiKind) -> BTreeSet<(&'static str, String)> {
    let resources = [kind.plural, kind.singular].into_iter().chain(kind.short_names.iter().copied());
    let resources = resources.filter(|name| !name.is_empty());
    let kinds = [kind.kind.to_owned(), group.list_kind(kind)];
    let kinds = kinds.into_iter().map(|name| ("kind or list kind", name));
    resources.map(|name| ("resource name", name.to_owned())).chain(kinds).collect()
}
