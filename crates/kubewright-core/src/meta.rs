//! Metadata of kinds as plain constant data: declared by the derives, and the only input of the generator.

mod lifecycle;
mod policy;

use std::fmt;

pub use lifecycle::{Lifecycle, Release, Replacement};
pub use policy::{Policy, PolicyDefault, PolicyParams, PolicyRule, PolicySettings, PolicyVariable};
use schemars::{Schema, SchemaGenerator};

use crate::apply::Shape;

/// One version of an API group, as its `group_version!` declares it.
#[derive(Clone, Copy, Debug)]
pub struct ApiGroup {
    /// The API group, such as `example.com`.
    pub group: &'static str,
    /// The version, such as `v1`.
    pub version: &'static str,
    /// The identifier of the group in generated names, if it is not derived from the group.
    pub group_ident: Option<&'static str>,
    /// The path of the module with the `group_version!`, where its kinds are public.
    pub module: &'static str,
    /// The kinds and lists, in declaration order.
    pub types: &'static [TypeMeta],
}

impl ApiGroup {
    /// Returns the kinds of this version, in declaration order.
    pub fn kinds(&self) -> impl Iterator<Item = &'static ApiKind> + use<> {
        self.types.iter().filter_map(|ty| match ty {
            TypeMeta::Kind(kind) | TypeMeta::KindWithList(kind, _) => Some(kind),
            TypeMeta::List(_) => None,
        })
    }

    /// Returns the list kind of a kind: that of its list type, or by convention.
    pub fn list_kind(&self, kind: &ApiKind) -> String {
        self.list_of(kind).map_or_else(|| format!("{}List", kind.kind), |list| list.kind.to_owned())
    }

    /// Returns the list type of a kind, if one is registered.
    pub fn list_of(&self, kind: &ApiKind) -> Option<&'static ApiList> {
        self.types.iter().find_map(|ty| match ty {
            TypeMeta::List(list) | TypeMeta::KindWithList(_, list) if list.item == kind.kind => Some(list),
            _ => None,
        })
    }
}

/// A registered type: a kind, a list of one, or both.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "values are constants that are used by reference")]
pub enum TypeMeta {
    /// A type that derives `Object`.
    Kind(ApiKind),
    /// A type that derives `ApiObject`, with its generated list.
    KindWithList(ApiKind, ApiList),
    /// A type that derives `ObjectList`.
    List(ApiList),
}

/// Returns the CustomResourceDefinition of a kind as JSON.
pub type DeclaredCrd = fn() -> Result<serde_json::Value, serde_json::Error>;

/// A kind, as its derive and attributes declare it.
#[derive(Clone, Copy, Debug)]
pub struct ApiKind {
    /// The kind, such as `Widget`.
    pub kind: &'static str,
    /// The kind of its list by convention, such as `WidgetList`; empty for adopted kinds.
    pub default_list_kind: &'static str,
    /// The name of the Rust type in the module of its group. It differs from the kind for renamed adopted types and for
    /// types that declare their kind with `#[k8s(kind = "..")]`.
    pub rust_name: &'static str,
    /// The resource name in URLs, such as `widgets`.
    pub plural: &'static str,
    /// The singular name, such as `widget`; empty if the definition is not generated.
    pub singular: &'static str,
    /// The short names for `kubectl get`, such as `wg`.
    pub short_names: &'static [&'static str],
    /// The groups of resources that it belongs to, such as `all`.
    pub categories: &'static [&'static str],
    /// Whether its objects are namespaced.
    pub scope: Scope,
    /// Whether a client is generated (`#[genclient]`).
    pub genclient: bool,
    /// The verbs that are granted to its client; empty without a client.
    pub verbs: &'static [ClientVerb],
    /// The extension methods of its client, in declaration order.
    pub methods: &'static [Method],
    /// The names of the indexes of its informer, in declaration order. The kind's `IndexedBy` has their functions.
    pub indexes: &'static [&'static str],
    /// Whether it has the status subresource.
    pub status: bool,
    /// The scale subresource, if it has one.
    pub scale: Option<Scale>,
    /// The columns of `kubectl get`.
    pub columns: &'static [PrintColumn],
    /// Further properties of its definition.
    pub definition: Definition,
    /// The rules, defaults and variables of its admission policies, in declaration order.
    pub policies: &'static [Policy],
    /// The doc comment, lines joined by newlines.
    pub docs: &'static str,
    /// The releases that introduce, deprecate and remove it, if declared.
    pub lifecycle: Option<Lifecycle>,
    /// The note of the type's own `#[deprecated]`, if it has one; can be empty.
    pub deprecated: Option<&'static str>,
    /// The schemars schema of the complete object; `None` if the definition is not generated.
    pub schema: Option<fn(&mut SchemaGenerator) -> Schema>,
    /// Its shape, if it derives `ApplyConfiguration`.
    pub apply: Option<fn() -> Shape>,
    /// The CustomResourceDefinition that kube's derive declares; `None` for all other kinds.
    pub crd: Option<DeclaredCrd>,
    /// The location of the Rust type, for messages; unknown for adopted kinds.
    pub location: Location,
}

impl ApiKind {
    /// The defaults of all fields.
    pub const DEFAULT: ApiKind = ApiKind {
        kind: "",
        default_list_kind: "",
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
        definition: Definition::DEFAULT,
        policies: &[],
        docs: "",
        lifecycle: None,
        deprecated: None,
        schema: None,
        apply: None,
        crd: None,
        location: Location::UNKNOWN,
    };

    /// Whether the verb is granted to its client.
    pub fn grants(&self, verb: ClientVerb) -> bool {
        self.verbs.contains(&verb)
    }
}

/// The source location of a declaration, displayed as `file:line`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// The path of the source file, as rustc was called with it: relative for a workspace member.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
}

impl Location {
    /// An unknown location, with an empty file.
    pub const UNKNOWN: Location = Location { file: "", line: 0 };
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Properties of a CustomResourceDefinition and of one of its versions.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Whether objects are stored in this version. Can be omitted for a kind with one version.
    pub storage: bool,
    /// Whether the version is served.
    pub served: bool,
    /// Annotations of the definition itself, names and values.
    pub annotations: &'static [(&'static str, &'static str)],
    /// Labels of the definition itself, names and values.
    pub labels: &'static [(&'static str, &'static str)],
    /// JSON paths of the fields that field selectors can use, in addition to those that are declared on the fields.
    pub selectable_fields: &'static [&'static str],
    /// How objects are converted between the versions of the kind, if it is declared.
    pub conversion: Option<Conversion>,
}

impl Definition {
    /// A served version without further properties.
    pub const DEFAULT: Definition = Definition {
        storage: false,
        served: true,
        annotations: &[],
        labels: &[],
        selectable_fields: &[],
        conversion: None,
    };
}

/// How the API server converts objects between the versions of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// By a webhook of the operator, whose manifests add the location to the definition.
    Webhook,
    /// By a webhook behind a Service, whose location is in the generated definition.
    Service {
        /// The name of the Service.
        name: &'static str,
        /// The namespace of the Service.
        namespace: &'static str,
        /// The path; `None` for `/convert/<plural>.<group>`.
        path: Option<&'static str>,
        /// The port; `None` for 443.
        port: Option<u16>,
    },
    /// Not at all: only their `apiVersion` changes.
    None {
        /// Why the differences between the versions lose nothing.
        reason: &'static str,
    },
}

/// A list type.
#[derive(Clone, Copy, Debug)]
pub struct ApiList {
    /// The list kind, such as `WidgetList`.
    pub kind: &'static str,
    /// The kind of its items.
    pub item: &'static str,
    /// The JSON name of the items, which is `items` in every Kubernetes API.
    pub items: &'static str,
    /// The doc comment, lines joined by newlines.
    pub docs: &'static str,
}

impl ApiList {
    /// A placeholder for a list that its derive rejected, in builds that fail anyway.
    #[doc(hidden)]
    pub const PLACEHOLDER: ApiList = ApiList { kind: "", item: "", items: "", docs: "" };
}

/// The scope of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Objects are cluster-scoped.
    Cluster,
    /// Objects are namespaced.
    Namespaced,
}

impl Scope {
    /// Returns the name that the API server uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Scope::Cluster => "Cluster",
            Scope::Namespaced => "Namespaced",
        }
    }
}

/// A scope type of k8s-openapi, as a value.
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

/// An operation of a client: the verbs of Go's client-gen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ClientVerb {
    /// Creates an object.
    Create,
    /// Replaces an object.
    Update,
    /// Replaces the status of an object.
    UpdateStatus,
    /// Deletes one object.
    Delete,
    /// Deletes a collection of objects.
    DeleteCollection,
    /// Reads one object.
    Get,
    /// Reads a collection of objects.
    List,
    /// Watches for changes.
    Watch,
    /// Patches an object.
    Patch,
    /// Applies the fields of an object that a field manager owns.
    Apply,
    /// Applies the fields of a status that a field manager owns.
    ApplyStatus,
}

/// An extension method of a client. The kind's `ExtensionMethod` has its types.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// The name, such as `get_scale`.
    pub name: &'static str,
    /// The operation: get, list, create, update, patch or apply.
    pub verb: ClientVerb,
    /// Whether the type of the request body is declared; otherwise it is the kind itself.
    pub has_input: bool,
    /// The shape of that type, if it can be part of an apply configuration.
    pub input: Option<fn() -> Shape>,
    /// The subresource that it operates on, if it is not the object itself.
    pub subresource: Option<&'static str>,
}

/// The scale subresource: the JSON paths of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// The JSON path of the desired replicas, under `.spec.`.
    pub spec_path: &'static str,
    /// The JSON path of the observed replicas, under `.status.`.
    pub status_path: &'static str,
    /// The JSON path of the label selector as a string, if there is one.
    pub selector_path: Option<&'static str>,
}

/// A column of `kubectl get`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintColumn {
    /// The heading.
    pub name: &'static str,
    /// The type of the value: integer, number, string, boolean or date.
    pub column_type: &'static str,
    /// The JSON path of the value.
    pub json_path: &'static str,
    /// The description, for tools that show it.
    pub description: Option<&'static str>,
    /// The format of the value, such as `int64`.
    pub format: Option<&'static str>,
    /// Columns with priority 0 are always shown, others only with `-o wide`.
    pub priority: i32,
}
