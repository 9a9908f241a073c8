//! What a kind is: each field with the attribute that declares it.

use schemars::{Schema, SchemaGenerator};

use super::{Lifecycle, Location, Policy, scope::Scope, verb::ClientVerb};
use crate::apply::Shape;

/// A kind, as its derive and attributes declare it.
#[derive(Clone, Copy, Debug)]
pub struct ApiKind {
    /// The kind, such as `Widget`: the name of the type, or `#[k8s(kind = "Widget")]`.
    pub kind: &'static str,
    /// The kind of its list by convention, such as `WidgetList`; empty for adopted kinds.
    pub default_list_kind: &'static str,
    /// The name of the Rust type in the module of its group. It differs from the kind for renamed adopted types and for
    /// types that declare their kind with `#[k8s(kind = "..")]`.
    pub rust_name: &'static str,
    /// `#[k8s(plural = "widgets")]`: the resource name in URLs, by default as Go's generators form it.
    pub plural: &'static str,
    /// `#[k8s(singular = "widget")]`, by default the kind in lower case; empty if the definition is not generated.
    pub singular: &'static str,
    /// `#[k8s(short_names = ["wg"])]`: the short names for `kubectl get`.
    pub short_names: &'static [&'static str],
    /// `#[k8s(categories = ["all"])]`: the groups of resources that it belongs to.
    pub categories: &'static [&'static str],
    /// `#[k8s(scope = "Cluster")]` or `#[genclient(non_namespaced)]`; namespaced by default.
    pub scope: Scope,
    /// `#[genclient]`: whether a client is generated.
    pub genclient: bool,
    /// `#[genclient(only_verbs = [get, list])]`, `skip_verbs`, `readonly`, `no_verbs`, `no_status`: the verbs that are
    /// granted to its client; empty without a client.
    pub verbs: &'static [ClientVerb],
    /// `#[genclient(method(name = get_scale, verb = get, subresource = "scale"))]`: the extension methods of its
    /// client, in declaration order.
    pub methods: &'static [Method],
    /// `#[genclient(index(..))]`: the names of the indexes of its informer, in declaration order. The kind's
    /// `IndexedBy` has their functions.
    pub indexes: &'static [&'static str],
    /// `#[k8s(subresource(status))]`: whether it has the status subresource.
    pub status: bool,
    /// `#[k8s(subresource(scale(spec_path = ".spec.replicas", status_path = ".status.replicas")))]`.
    pub scale: Option<Scale>,
    /// `#[k8s(printcolumns = [string("State", ".status.state")])]`: the columns of `kubectl get`.
    /// `#[schema(column = "State")]` adds those of fields.
    pub columns: &'static [PrintColumn],
    /// Further properties of its definition.
    pub definition: Definition,
    /// `#[policy(rule = "..")]`, `#[policy(default = "..")]`: its admission policies, in declaration order.
    pub policies: &'static [Policy],
    /// The doc comment, lines joined by newlines.
    pub docs: &'static str,
    /// `#[k8s(lifecycle(introduced = "1.0", deprecated = "1.2"))]`: the releases that introduce, deprecate and remove
    /// it.
    pub lifecycle: Option<Lifecycle>,
    /// `#[deprecated(note = "..")]` of the type: its note, which can be empty.
    pub deprecated: Option<&'static str>,
    /// `#[derive(CrdSchema)]`: the schema of the complete object; `None` if the definition is not generated.
    pub schema: Option<fn(&mut SchemaGenerator) -> Schema>,
    /// `#[derive(ApplyConfiguration)]`: its shape.
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

/// Returns the CustomResourceDefinition of a kind as JSON.
pub type DeclaredCrd = fn() -> Result<serde_json::Value, serde_json::Error>;

/// Properties of a CustomResourceDefinition and of one of its versions.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// `#[k8s(storage)]`: whether objects are stored in this version. Can be omitted for a kind with one version.
    pub storage: bool,
    /// `#[k8s(unserved)]`: whether the version is served; true by default.
    pub served: bool,
    /// `#[k8s(metadata(annotations = ["name=value"]))]`: of the definition itself, names and values.
    pub annotations: &'static [(&'static str, &'static str)],
    /// `#[k8s(metadata(labels = ["name=value"]))]`: of the definition itself, names and values.
    pub labels: &'static [(&'static str, &'static str)],
    /// `#[k8s(selectable_fields = [".spec.color"])]`: JSON paths of the fields that field selectors can use, in
    /// addition to those with `#[schema(selectable)]`.
    pub selectable_fields: &'static [&'static str],
    /// `#[k8s(conversion(webhook))]`: how objects are converted between the versions of the kind, if it is declared.
    pub conversion: Option<Conversion>,
    /// `#[k8s(allow(version_name))]`: the names of warnings that the generator does not report.
    pub allow: &'static [&'static str],
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
        allow: &[],
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
