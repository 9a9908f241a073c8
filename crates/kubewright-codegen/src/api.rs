//! The model of the emitters: groups and kinds, validated across kinds, with the names of their generated items.

mod check;
pub(crate) mod deprecation;

use std::collections::{BTreeMap, BTreeSet};

use kubewright_core::meta::{ApiGroup, ApiKind, ClientVerb, Scope};
use kubewright_names::resource::is_camel_case_kind;
use proc_macro2::{Ident, TokenStream};
use quote::format_ident;

use crate::{diagnostic::Diagnostics, layout::Layout, names};

/// All groups that a client is generated for, sorted by module name.
pub(crate) struct Api {
    /// Each version of each group.
    pub(crate) groups: Vec<Group>,
    /// Path of the client in generated code.
    pub(crate) client: TokenStream,
}

/// A version of a group.
pub(crate) struct Group {
    pub(crate) meta: ApiGroup,
    /// Path of the module where its kinds are public, in generated code.
    pub(crate) path: TokenStream,
    /// Path of the client in generated code.
    pub(crate) client: TokenStream,
    /// Name of its modules and getters, such as `example_v1`.
    pub(crate) module: String,
    /// The kinds that have a client, sorted by name.
    pub(crate) kinds: Vec<ClientKind>,
}

/// A kind that has a client.
pub(crate) struct ClientKind {
    pub(crate) meta: ApiKind,
    /// Path of its type below the module that generated files import as `types`. The type itself is never imported, so
    /// the names of kinds cannot conflict with other items.
    pub(crate) ty: TokenStream,
    /// Name of its getters, such as `loggers`.
    pub(crate) getter: Ident,
    /// `#[deprecated(..)]` for its generated items, if it is deprecated.
    pub(crate) deprecated: TokenStream,
}

impl Api {
    /// Creates the model.
    ///
    /// # Errors
    /// Two kinds or groups have conflicting names, or a kind lacks a type that its client needs.
    pub(crate) fn new(groups: &[ApiGroup], layout: &Layout) -> Result<Self, Diagnostics> {
        let mut errors = Diagnostics::default();
        check::declarations(groups, &mut errors);
        let modules = modules(groups);
        let groups = groups.iter().zip(modules);
        let mut groups: Vec<_> = groups.map(|(group, module)| Group::new(*group, module, layout)).collect();
        groups.sort_by(|a, b| a.module.cmp(&b.module));
        check::generated_names(&groups, &mut errors);
        errors.or(Api { groups, client: path(&layout.client_path()) })
    }

    /// Returns the groups with a client for at least one of their kinds.
    pub(crate) fn client_groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(|group| !group.kinds.is_empty())
    }
}

impl Group {
    fn new(meta: ApiGroup, module: String, layout: &Layout) -> Self {
        let kind = |kind: &'static ApiKind| ClientKind {
            meta: *kind,
            ty: path(&format!("types::{}", kind.rust_name)),
            getter: getter(kind),
            deprecated: deprecation::attribute(&meta, kind),
        };
        let mut kinds: Vec<_> = meta.kinds().filter(|kind| kind.genclient).map(kind).collect();
        kinds.sort_by_key(|kind| kind.meta.kind);
        let (types, client) = (path(&layout.types_path(meta.module)), path(&layout.client_path()));
        Group { meta, path: types, client, module, kinds }
    }

    /// Returns the name of its modules and getters.
    pub(crate) fn ident(&self) -> Ident {
        format_ident!("{}", self.module)
    }

    /// Returns the name of a generated type of this group, such as `ExampleV1Client`.
    pub(crate) fn type_named(&self, suffix: &str) -> Ident {
        format_ident!("{}{suffix}", names::pascal_case(&self.module))
    }

    /// Returns ``group `example.com`, version `v1` `` for documentation.
    pub(crate) fn described(&self) -> String {
        format!("group `{}`, version `{}`", self.meta.group, self.meta.version)
    }

    /// Returns the kinds that have an informer.
    pub(crate) fn informed_kinds(&self) -> impl Iterator<Item = &ClientKind> {
        self.kinds.iter().filter(|kind| kind.meta.grants(ClientVerb::List) && kind.meta.grants(ClientVerb::Watch))
    }

    /// Returns the kinds that have a lister, which reads the store of an informer.
    pub(crate) fn listed_kinds(&self) -> impl Iterator<Item = &ClientKind> {
        self.informed_kinds().filter(|kind| kind.meta.grants(ClientVerb::Get))
    }
}

impl ClientKind {
    /// Returns an intra-doc link to its type.
    pub(crate) fn linked(&self) -> String {
        format!("[`{}`]({})", item_name(&self.meta), self.ty.to_string().replace(' ', ""))
    }

    /// Returns the name of a generated type of this kind, such as `LoggerLister`.
    pub(crate) fn type_named(&self, suffix: &str) -> Ident {
        format_ident!("{}{suffix}", item_name(&self.meta))
    }

    /// Returns the names of the constants of its indexes, such as `LOGGER_BY_STATE`, in declaration order.
    pub(crate) fn indexes(&self) -> Vec<Ident> {
        let name = names::snake_case(item_name(&self.meta));
        self.meta.indexes.iter().map(|index| names::ident(&format!("{name}_{index}").to_uppercase())).collect()
    }

    /// Returns the name of its getter for all namespaces, such as `all_loggers`.
    pub(crate) fn all_getter(&self) -> Ident {
        format_ident!("all_{}", self.getter)
    }

    pub(crate) fn is_namespaced(&self) -> bool {
        self.meta.scope == Scope::Namespaced
    }
}

/// Returns the name that the generated items of a kind start with: that of its Rust type. For an adopted kind, whose
/// type can be a renamed re-export, it is the kind if a type can have its name.
fn item_name(kind: &ApiKind) -> &'static str {
    let is_adopted = kind.schema.is_none();
    if is_adopted && is_camel_case_kind(kind.kind) { kind.kind } else { kind.rust_name }
}

/// Returns the name of the getter of a kind. `new` is the constructor of the clients of a group.
fn getter(kind: &ApiKind) -> Ident {
    match names::snake_plural(item_name(kind), kind.plural).as_str() {
        "new" => names::ident("new_"),
        name => names::ident(name),
    }
}

fn path(text: &str) -> TokenStream {
    text.parse().expect("`module_path!()` and a type name form a path")
}

/// Returns a module name for each group: its `group_ident`, or the first label of its name, or its full name if several
/// groups share the first label.
fn modules(groups: &[ApiGroup]) -> Vec<String> {
    let by_short: BTreeMap<_, BTreeSet<_>> =
        groups.iter().filter(|group| group.group_ident.is_none()).fold(BTreeMap::new(), |mut by_short, group| {
            by_short.entry(names::short_group(group.group)).or_default().insert(group.group);
            by_short
        });
    let is_shared = |short: &str| by_short.get(short).is_some_and(|groups| groups.len() > 1);
    let name = |group: &ApiGroup| match (group.group_ident, names::short_group(group.group)) {
        (Some(ident), _) => ident.to_owned(),
        (None, short) if is_shared(&short) => names::snake_group(group.group),
        (None, short) => short,
    };
    groups.iter().map(|group| format!("{}_{}", name(group), names::snake_version(group.version))).collect()
}
