//! What the derives know of a kind, as plain constant data: the only input of the generator.

mod lifecycle;

pub use lifecycle::{Lifecycle, Release, Replacement};
use schemars::{Schema, SchemaGenerator};

use crate::apply::Shape;

/// One version of an API group, as its `group_version!` declares it.
#[derive(Clone, Copy, Debug)]
pub struct ApiGroup {
    /// The API group, such as `example.com`.
    pub group: &'static str,
    /// The version, such as `v1`.
    pub version: &'static str,
    /// The word for the group in generated names, if the group's own would not do.
    pub group_ident: Option<&'static str>,
    /// Path of the module where `group_version!` stands; its kinds are public there.
    pub module: &'static str,
    /// The kinds and lists, in the order they are declared.
    pub types: &'static [TypeMeta],
}

impl ApiGroup {
    /// The kinds of this version, in the order they are declared.
    pub fn kinds(&self) -> impl Iterator<Item = &'static ApiKind> + use<> {
        self.types.iter().filter_map(|of| match of {
            TypeMeta::Kind(kind) => Some(kind),
            TypeMeta::List(_) => None,
        })
    }

    /// The list kind of a kind: that of its list type, or by convention.
    pub fn list_kind(&self, kind: &ApiKind) -> String {
        self.list_of(kind).map_or_else(|| format!("{}List", kind.kind), |list| list.kind.to_owned())
    }

    /// The list type of a kind, if one is registered.
    pub fn list_of(&self, kind: &ApiKind) -> Option<&'static ApiList> {
        self.types.iter().find_map(|of| match of {
            TypeMeta::List(list) if list.item == kind.kind => Some(list),
            _ => None,
        })
    }
}

/// A registered type: a kind or a list of one.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "constants that are looked at where they are")]
pub enum TypeMeta {
    /// A type that derives `Object`.
    Kind(ApiKind),
    /// A type that derives `ObjectList`.
    List(ApiList),
}

/// A kind, as its derive and attributes declare it.
#[derive(Clone, Copy, Debug)]
pub struct ApiKind {
    /// The kind, such as `Widget`.
    pub kind: &'static str,
    /// The name of the Rust type in the module of its group: the kind, unless an adopted type has another.
    pub rust_name: &'static str,
    /// The resource name in URLs, such as `widgets`.
    pub plural: &'static str,
    /// The name of one, such as `widget`; empty if its definition is made elsewhere.
    pub singular: &'static str,
    /// Names for the command line, such as `wg`.
    pub short_names: &'static [&'static str],
    /// Groups of resources it is listed with, such as `all`.
    pub categories: &'static [&'static str],
    /// Whether its objects live in a namespace.
    pub scope: Scope,
    /// Whether a client is generated (`#[genclient]`).
    pub genclient: bool,
    /// What its client may do; empty without a client.
    pub verbs: &'static [Verb],
    /// Further methods of its client, in the order they are declared.
    pub methods: &'static [Method],
    /// Names of the indexes of its informer, in the order they are declared. Their functions are those of the kind's
    /// `IndexedBy`.
    pub indexes: &'static [&'static str],
    /// Whether the status is a subresource.
    pub status: bool,
    /// The scale subresource, if it has one.
    pub scale: Option<Scale>,
    /// Columns of `kubectl get`.
    pub columns: &'static [PrintColumn],
    /// What its definition says beside that.
    pub definition: Definition,
    /// The doc comment, lines joined by newlines.
    pub docs: &'static str,
    /// Since when it is served and how long, if that was said.
    pub lifecycle: Option<Lifecycle>,
    /// The note of the type's own `#[deprecated]`, if it has one; it may be empty.
    pub deprecated: Option<&'static str>,
    /// The schema of the whole object, as schemars sees it; `None` if its definition is made elsewhere.
    pub schema: Option<fn(&mut SchemaGenerator) -> Schema>,
    /// What it looks like, if it derives `ApplyConfiguration`.
    pub apply: Option<fn() -> Shape>,
}

impl ApiKind {
    /// A kind of which nothing is known: what is not said of one is as here.
    pub const UNKNOWN: ApiKind = ApiKind {
        kind: "",
        rust_name: "",
        plural: "",
        singular: "",
        short_names: &[],
        categories: &[],
        scope: Scope::Cluster,
        genclient: false,
        verbs: &[],
        methods: &[],
        indexes: &[],
        status: false,
        scale: None,
        columns: &[],
        definition: Definition::USUAL,
        docs: "",
        lifecycle: None,
        deprecated: None,
        schema: None,
        apply: None,
    };

    /// Whether its client may do this.
    pub fn grants(&self, verb: Verb) -> bool {
        self.verbs.contains(&verb)
    }
}

/// What a CustomResourceDefinition says of a version of a kind, and of itself.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Whether objects are stored in this version. Of a kind's versions one is; an only one need not say so.
    pub storage: bool,
    /// Whether the version is served.
    pub served: bool,
    /// Annotations of the definition itself, names and values.
    pub annotations: &'static [(&'static str, &'static str)],
    /// Labels of the definition itself, names and values.
    pub labels: &'static [(&'static str, &'static str)],
    /// JSON paths of the fields that field selectors may ask for, beside those that say so themselves.
    pub selectable_fields: &'static [&'static str],
}

impl Definition {
    /// Served, and nothing else said.
    pub const USUAL: Definition =
        Definition { storage: false, served: true, annotations: &[], labels: &[], selectable_fields: &[] };
}

/// A list type.
#[derive(Clone, Copy, Debug)]
pub struct ApiList {
    /// The kind and the name of the Rust type, such as `WidgetList`.
    pub kind: &'static str,
    /// The kind of its items.
    pub item: &'static str,
    /// The JSON name of the items; every real server says `items`.
    pub items: &'static str,
    /// The doc comment, lines joined by newlines.
    pub docs: &'static str,
}

impl ApiList {
    /// Stands for a list whose declaration was refused by its derive; no build that holds one succeeds.
    #[doc(hidden)]
    pub const REFUSED: ApiList = ApiList { kind: "", item: "", items: "", docs: "" };
}

/// Where the objects of a kind live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In the cluster as a whole.
    Cluster,
    /// Each in a namespace.
    Namespaced,
}

impl Scope {
    /// The word the API server uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Scope::Cluster => "Cluster",
            Scope::Namespaced => "Namespaced",
        }
    }
}

/// The scope of k8s-openapi's that a kind has, as a value.
pub trait HasScope {
    /// The scope.
    const SCOPE: Scope;
}

impl HasScope for k8s_openapi::ClusterResourceScope {
    const SCOPE: Scope = Scope::Cluster;
}

impl HasScope for k8s_openapi::NamespaceResourceScope {
    const SCOPE: Scope = Scope::Namespaced;
}

/// What a client can do: the verbs of Go's client-gen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verb {
    /// Make a new object.
    Create,
    /// Replace an object.
    Update,
    /// Replace the status of an object.
    UpdateStatus,
    /// Remove one object.
    Delete,
    /// Remove many objects.
    DeleteCollection,
    /// Read one object.
    Get,
    /// Read many objects.
    List,
    /// Follow changes.
    Watch,
    /// Change parts of an object.
    Patch,
    /// Say what an object must have, and own that.
    Apply,
    /// Say what the status of an object must have, and own that.
    ApplyStatus,
}

/// A further method of a client. Its types are those of the kind's `ExtensionMethod`.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// Its name, such as `get_scale`.
    pub name: &'static str,
    /// What it does: get, list, create, update, patch or apply.
    pub verb: Verb,
    /// Whether it is said what is sent; otherwise it is the kind itself.
    pub has_input: bool,
    /// What that looks like, if it can be part of an apply configuration.
    pub input: Option<fn() -> Shape>,
    /// What part of the object it is about, if not all of it.
    pub subresource: Option<&'static str>,
}

/// The scale subresource: where in the object its numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// JSON path of the wanted replicas, under `.spec.`.
    pub spec_path: &'static str,
    /// JSON path of the observed replicas, under `.status.`.
    pub status_path: &'static str,
    /// JSON path of the label selector as text, if there is one.
    pub selector_path: Option<&'static str>,
}

/// A column of `kubectl get`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintColumn {
    /// The heading.
    pub name: &'static str,
    /// What the server takes the value for: integer, number, string, boolean or date.
    pub column_type: &'static str,
    /// Where the value is.
    pub json_path: &'static str,
    /// Text for `kubectl explain` and friends.
    pub description: Option<&'static str>,
    /// How the value is to be read, such as `int64`.
    pub format: Option<&'static str>,
    /// 0 is always shown; more only with `-o wide`.
    pub priority: i32,
}
