//! The groups as the emitters see them: checked across kinds, each with its names.

use std::collections::{BTreeMap, BTreeSet};

use logger_core::meta::{ApiGroup, ApiKind, Scope, Verb};
use proc_macro2::{Ident, TokenStream};
use quote::format_ident;

use crate::diagnostic::Diagnostics;
use crate::names;

/// Everything a client is generated for, sorted.
pub(crate) struct Api {
    /// Each version of each group.
    pub(crate) groups: Vec<Group>,
}

/// A version of a group.
pub(crate) struct Group {
    pub(crate) meta: ApiGroup,
    /// Name of its modules and getters, such as `example_v1`.
    pub(crate) module: String,
    /// The kinds that have a client, by name.
    pub(crate) kinds: Vec<ClientKind>,
}

/// A kind that has a client.
pub(crate) struct ClientKind {
    pub(crate) meta: ApiKind,
    /// Name of its getters, such as `loggers`.
    pub(crate) getter: Ident,
}

impl Api {
    pub(crate) fn new(groups: &[ApiGroup]) -> Result<Self, Diagnostics> {
        let mut found = Diagnostics::default();
        check_each_once(groups, &mut found);
        for group in groups {
            check_lists(group, &mut found);
        }
        let modules = modules(groups);
        let mut groups: Vec<_> = groups
            .iter()
            .zip(modules)
            .map(|(group, module)| Group::new(*group, module))
            .collect();
        groups.sort_by(|a, b| a.module.cmp(&b.module));
        found.or(Api { groups })
    }

    /// The groups with a client for one of their kinds at least.
    pub(crate) fn client_groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(|group| !group.kinds.is_empty())
    }
}

impl Group {
    fn new(meta: ApiGroup, module: String) -> Self {
        let kind = |meta: &'static ApiKind| ClientKind {
            meta: *meta,
            getter: format_ident!("{}", names::snake_plural(meta.kind, meta.plural)),
        };
        let mut kinds: Vec<_> = meta.kinds().filter(|kind| kind.genclient).map(kind).collect();
        kinds.sort_by_key(|kind| kind.meta.kind);
        Group { meta, module, kinds }
    }

    /// Name of its modules and getters.
    pub(crate) fn ident(&self) -> Ident {
        format_ident!("{}", self.module)
    }

    /// Name of a type of this group, such as `ExampleV1Client`.
    pub(crate) fn type_named(&self, suffix: &str) -> Ident {
        format_ident!("{}{suffix}", names::pascal(&self.module))
    }

    /// Path of the module where its kinds are public.
    pub(crate) fn path(&self) -> TokenStream {
        self.meta.module.parse().expect("module_path! gives a path")
    }

    /// `group example.com, version v1`, for docs.
    pub(crate) fn described(&self) -> String {
        format!("group `{}`, version `{}`", self.meta.group, self.meta.version)
    }

    /// The kinds an informer and a lister can be made for.
    pub(crate) fn informed_kinds(&self) -> impl Iterator<Item = &ClientKind> {
        self.kinds
            .iter()
            .filter(|kind| kind.meta.grants(Verb::List) && kind.meta.grants(Verb::Watch))
    }
}

impl ClientKind {
    /// Name of its type.
    pub(crate) fn ident(&self) -> Ident {
        format_ident!("{}", self.meta.kind)
    }

    /// Name of a type of this kind, such as `LoggerLister`.
    pub(crate) fn type_named(&self, suffix: &str) -> Ident {
        format_ident!("{}{suffix}", self.meta.kind)
    }

    pub(crate) fn is_namespaced(&self) -> bool {
        self.meta.scope == Scope::Namespaced
    }
}

/// A list is read through its type, so a kind whose client lists must have one.
fn check_lists(group: &ApiGroup, found: &mut Diagnostics) {
    for kind in group
        .kinds()
        .filter(|kind| kind.grants(Verb::List) && group.list_of(kind).is_none())
    {
        let item = format!("{}::{}", group.module, kind.kind);
        let message = "its client lists, but no list type is registered: derive `ObjectList` on a struct with \
                       `items: Vec<Self>` and add it to `kinds` of the module's `group_version!`";
        found.push(item, message.replace("Self", kind.kind));
    }
}

/// A version of a group has one module, and a resource or kind of it one type.
fn check_each_once(groups: &[ApiGroup], found: &mut Diagnostics) {
    let mut versions = BTreeMap::new();
    for group in groups {
        if let Some(other) = versions.insert((group.group, group.version), group.module) {
            let message = format!(
                "{}/{} is declared in `{other}` too; declare it once",
                group.group, group.version
            );
            found.push(group.module, message);
        }
        let mut plurals = BTreeMap::new();
        for kind in group.kinds() {
            if let Some(other) = plurals.insert(kind.plural, kind.kind) {
                let message = format!(
                    "its plural `{}` is that of `{other}` too; set `#[k8s(plural = ..)]`",
                    kind.plural
                );
                found.push(format!("{}::{}", group.module, kind.kind), message);
            }
        }
    }
}

/// A module name for each group: its first part, or the whole of it where two groups start alike.
fn modules(groups: &[ApiGroup]) -> Vec<String> {
    let full: BTreeMap<_, BTreeSet<_>> = groups.iter().fold(BTreeMap::new(), |mut by_short, group| {
        by_short
            .entry(names::short_group(group.group))
            .or_default()
            .insert(group.group);
        by_short
    });
    let is_shared = |short: &str| full.get(short).is_some_and(|groups| groups.len() > 1);
    let name = |group: &ApiGroup| match names::short_group(group.group) {
        short if is_shared(&short) => names::snake_of_dotted(group.group),
        short => short,
    };
    groups
        .iter()
        .map(|group| format!("{}_{}", name(group), group.version))
        .collect()
}
