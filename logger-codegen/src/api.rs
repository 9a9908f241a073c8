//! The groups as the emitters see them: checked across kinds, each with its names.

use std::collections::{BTreeMap, BTreeSet};

use logger_core::meta::{ApiGroup, ApiKind, Scope, Verb};
use proc_macro2::{Ident, TokenStream};
use quote::format_ident;

use crate::deprecation;
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
    /// Path of its type, below the module that generated files import as `types`. The type itself is never imported,
    /// so no kind's name can clash with another.
    pub(crate) ty: TokenStream,
    /// Name of its getters, such as `loggers`.
    pub(crate) getter: Ident,
    /// `#[deprecated(..)]`, if it is, for what is generated for it.
    pub(crate) deprecated: TokenStream,
}

impl Api {
    pub(crate) fn new(groups: &[ApiGroup]) -> Result<Self, Diagnostics> {
        let mut found = Diagnostics::default();
        check_each_once(groups, &mut found);
        for group in groups {
            check_lists(group, &mut found);
            check_applied(group, &mut found);
        }
        let modules = modules(groups);
        let mut groups: Vec<_> = groups.iter().zip(modules).map(|(group, module)| Group::new(*group, module)).collect();
        groups.sort_by(|a, b| a.module.cmp(&b.module));
        for group in &groups {
            check_generated_names(group, &mut found);
        }
        for pair in groups.windows(2).filter(|pair| pair[0].module == pair[1].module) {
            let message = format!("its generated module `{}` is that of `{}` too", pair[1].module, pair[0].meta.group);
            let word = format!("group_ident = \"{}\"", names::snake_of_dotted(pair[1].meta.group));
            found
                .push(pair[1].meta.module, format!("{message}; give it another with `{word}` in its `group_version!`"));
        }
        found.or(Api { groups })
    }

    /// The groups with a client for one of their kinds at least.
    pub(crate) fn client_groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(|group| !group.kinds.is_empty())
    }
}

impl Group {
    fn new(meta: ApiGroup, module: String) -> Self {
        let kind = |kind: &'static ApiKind| ClientKind {
            meta: *kind,
            ty: path(&format!("types::{}", kind.rust_name)),
            getter: names::ident(&names::snake_plural(kind.kind, kind.plural)),
            deprecated: deprecation::attribute(&meta, kind),
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
        path(self.meta.module)
    }

    /// `group example.com, version v1`, for docs.
    pub(crate) fn described(&self) -> String {
        format!("group `{}`, version `{}`", self.meta.group, self.meta.version)
    }

    /// The kinds an informer can be made for.
    pub(crate) fn informed_kinds(&self) -> impl Iterator<Item = &ClientKind> {
        self.kinds.iter().filter(|kind| kind.meta.grants(Verb::List) && kind.meta.grants(Verb::Watch))
    }

    /// The kinds a lister can be made for: its store is an informer's.
    pub(crate) fn listed_kinds(&self) -> impl Iterator<Item = &ClientKind> {
        self.informed_kinds().filter(|kind| kind.meta.grants(Verb::Get))
    }
}

impl ClientKind {
    /// A link to its type, for docs.
    pub(crate) fn linked(&self) -> String {
        format!("[`{}`]({})", self.meta.kind, self.ty.to_string().replace(' ', ""))
    }

    /// Name of a type of this kind, such as `LoggerLister`.
    pub(crate) fn type_named(&self, suffix: &str) -> Ident {
        format_ident!("{}{suffix}", self.meta.kind)
    }

    /// Names of the constants that stand for its indexes, such as `LOGGER_BY_STATE`, in order.
    pub(crate) fn indexes(&self) -> Vec<Ident> {
        let kind = names::snake(self.meta.kind);
        self.meta.indexes.iter().map(|index| names::ident(&format!("{kind}_{index}").to_uppercase())).collect()
    }

    pub(crate) fn is_namespaced(&self) -> bool {
        self.meta.scope == Scope::Namespaced
    }
}

fn path(text: &str) -> TokenStream {
    text.parse().expect("module_path! and a type's name make a path")
}

/// A list is read through its type, so a kind whose client lists must have one.
fn check_lists(group: &ApiGroup, found: &mut Diagnostics) {
    let lists = |kind: &&ApiKind| kind.grants(Verb::List) && kind.schema.is_some();
    for kind in group.kinds().filter(lists).filter(|kind| group.list_of(kind).is_none()) {
        let item = format!("{}::{}", group.module, kind.rust_name);
        let message = "its client lists, but no list type is registered: derive `ObjectList` on a struct with \
                       `items: Vec<Self>` and add it to `kinds` of the module's `group_version!`";
        found.push(item, message.replace("Self", kind.kind));
    }
}

/// A method that applies the kind itself takes its apply configuration, so it must have one.
fn check_applied(group: &ApiGroup, found: &mut Diagnostics) {
    for kind in group.kinds().filter(|kind| kind.apply.is_none()) {
        for method in kind.methods.iter().filter(|method| method.verb == Verb::Apply && !method.has_input) {
            let item = format!("{}::{}", group.module, kind.rust_name);
            let message = format!(
                "its method `{}` applies it: derive `ApplyConfiguration` on it, or say what is applied with `input = ..`",
                method.name
            );
            found.push(item, message);
        }
    }
}

/// Kinds whose names differ may still ask for the same generated name.
fn check_generated_names(group: &Group, found: &mut Diagnostics) {
    let mut getters = BTreeMap::new();
    let mut types: BTreeMap<_, _> =
        ["Client", "Informers"].map(|suffix| (group.type_named(suffix).to_string(), "the group itself")).into();
    for kind in &group.kinds {
        let name = kind.meta.kind;
        let item = format!("{}::{}", group.meta.module, kind.meta.rust_name);
        for getter in [kind.getter.to_string(), format!("all_{}", kind.getter)] {
            if let Some(other) = getters.insert(getter.clone(), name).filter(|other| *other != name) {
                found.push(&item, format!("its getter `{getter}` is that of `{other}` too; set `#[k8s(plural = ..)]`"));
            }
        }
        for ty in ["Client", "Lister", "NamespaceLister", "Informer"].map(|suffix| kind.type_named(suffix).to_string())
        {
            if let Some(other) = types.insert(ty.clone(), name).filter(|other| *other != name) {
                found.push(&item, format!("its generated type `{ty}` is that of {other} too; rename one of them"));
            }
        }
    }
}

/// A version of a group has one module, and its names each one meaning: the server takes plural, singular and short
/// names as one set of names, kinds and list kinds as another, across the versions of a group.
fn check_each_once(groups: &[ApiGroup], found: &mut Diagnostics) {
    let (mut versions, mut kinds, mut names) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for group in groups {
        if let Some(other) = versions.insert((group.group, group.version), group.module) {
            let message = format!("{}/{} is declared in `{other}` too; declare it once", group.group, group.version);
            found.push(group.module, message);
            continue;
        }
        for kind in group.kinds() {
            if let Some(other) = kinds.insert((group.group, group.version, kind.kind), kind.rust_name) {
                let item = format!("{}::{}", group.module, kind.rust_name);
                found.push(item, format!("its kind `{}` is that of `{other}` too; keep one of them", kind.kind));
            }
            for (sort, name) in names_of(group, kind) {
                let other = *names.entry((group.group, sort, name.clone())).or_insert(kind.kind);
                if other != kind.kind {
                    let item = format!("{}::{}", group.module, kind.rust_name);
                    found.push(item, format!("its {sort} `{name}` is one of `{other}` too; give one of them another"));
                }
            }
        }
    }
}

fn names_of(group: &ApiGroup, kind: &ApiKind) -> BTreeSet<(&'static str, String)> {
    let resources = [kind.plural, kind.singular].into_iter().chain(kind.short_names.iter().copied());
    let resources = resources.filter(|name| !name.is_empty());
    let kinds = [kind.kind.to_owned(), group.list_kind(kind)];
    let kinds = kinds.into_iter().map(|name| ("kind or list kind", name));
    resources.map(|name| ("resource name", name.to_owned())).chain(kinds).collect()
}

/// A module name for each group: the word that was given, else its first part, or the whole of it where two groups start
/// alike.
fn modules(groups: &[ApiGroup]) -> Vec<String> {
    let full: BTreeMap<_, BTreeSet<_>> =
        groups.iter().filter(|group| group.group_ident.is_none()).fold(BTreeMap::new(), |mut by_short, group| {
            by_short.entry(names::short_group(group.group)).or_default().insert(group.group);
            by_short
        });
    let is_shared = |short: &str| full.get(short).is_some_and(|groups| groups.len() > 1);
    let name = |group: &ApiGroup| match (group.group_ident, names::short_group(group.group)) {
        (Some(word), _) => word.to_owned(),
        (None, short) if is_shared(&short) => names::snake_of_dotted(group.group),
        (None, short) => short,
    };
    groups.iter().map(|group| format!("{}_{}", name(group), group.version)).collect()
}
