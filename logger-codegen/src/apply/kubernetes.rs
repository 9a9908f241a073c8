//! Configurations of k8s-openapi's types, from their schemas: what operators embed, and the kinds they often apply.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use k8s_openapi::api::{apps, autoscaling, batch, coordination, core, networking, policy, rbac};
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope, Resource, SubResourceScope};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

use super::{Configuration, Field, Root, Ty};
use crate::names;

/// The configurations of each group and version, such as `core_v1`, by name of their schemas.
pub(crate) fn configurations() -> BTreeMap<String, Vec<Configuration>> {
    let mut modules: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (schema, definition) in KUBERNETES.configured() {
        let configuration = KUBERNETES.configuration(schema, definition);
        modules.entry(module(schema)).or_default().push(configuration);
    }
    modules
}

/// How a client crate holds a type of k8s-openapi's; `None` if nobody made a configuration of it.
pub(crate) fn ty(schema: &str) -> Option<Ty> {
    match KUBERNETES.configured.contains(schema) {
        true => {
            let (module, name) = (format_ident!("{}", module(schema)), configuration_name(schema));
            Some(Ty::Configuration(quote!(logger_apply::#module::#name)))
        }
        false => KUBERNETES.leaf(schema).map(|leaf| Ty::Whole(quote!(logger_core::#leaf))),
    }
}

static KUBERNETES: LazyLock<Kubernetes> = LazyLock::new(Kubernetes::new);

/// The schemas of the types, by name.
struct Kubernetes {
    definitions: Map<String, Value>,
    /// The kinds, by the names of their schemas: whether they are namespaced and have a status.
    kinds: BTreeMap<String, (bool, bool)>,
    /// Those of which there is a configuration.
    configured: BTreeSet<String>,
}

/// Where the objects of a kind live.
trait HasNamespace {
    const IS_NAMESPACED: bool;
}

impl HasNamespace for NamespaceResourceScope {
    const IS_NAMESPACED: bool = true;
}

impl HasNamespace for SubResourceScope {
    const IS_NAMESPACED: bool = true;
}

impl HasNamespace for ClusterResourceScope {
    const IS_NAMESPACED: bool = false;
}

impl Kubernetes {
    fn new() -> Self {
        let mut schemas = SchemaSettings::draft2020_12().into_generator();
        let mut kubernetes =
            Kubernetes { definitions: Map::new(), kinds: kinds(&mut schemas), configured: BTreeSet::new() };
        schemas.subschema_for::<meta::Condition>();
        schemas.subschema_for::<meta::LabelSelector>();
        schemas.subschema_for::<meta::ObjectMeta>();
        kubernetes.definitions = schemas.take_definitions(true);
        for kind in kubernetes.kinds.clone().into_keys() {
            kubernetes.reach(&kind);
        }
        kubernetes.reach(&meta::Condition::schema_name());
        kubernetes
    }

    /// Notes the configuration of this type, and of all that is in it.
    fn reach(&mut self, schema: &str) {
        let definition = self.definitions.get(schema).cloned().unwrap_or_default();
        if !is_struct(&definition) || !self.configured.insert(schema.to_owned()) {
            return;
        }
        for (_, property) in self.properties(schema, &definition) {
            references(property, &mut |schema| self.reach(schema));
        }
    }

    fn configured(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.definitions.iter().filter(|(schema, _)| self.configured.contains(*schema))
    }

    /// The properties that are applied: type and metadata of a kind are its configuration's own, and what only the
    /// server writes is left out.
    fn properties<'a>(&self, schema: &str, definition: &'a Value) -> Vec<(&'a String, &'a Value)> {
        let left_out: &[&str] = match () {
            () if self.kinds.contains_key(schema) => &["apiVersion", "kind", "metadata"],
            () if schema == meta::ObjectMeta::schema_name() => &["managedFields", "selfLink"],
            () => &[],
        };
        let properties = definition["properties"].as_object();
        properties.into_iter().flatten().filter(|(name, _)| !left_out.contains(&name.as_str())).collect()
    }

    fn configuration(&self, schema: &str, definition: &Value) -> Configuration {
        let (name, path, module) = (last(schema), rust_path(schema), module(schema));
        let field = |(json_name, property): (&String, &Value)| {
            let name = names::snake(json_name);
            Field {
                rename: (names::camel_case(&name) != *json_name).then(|| json_name.clone()),
                name: names::ident(&name),
                flatten: false,
                docs: description(property),
                ty: self.property(property, &module),
            }
        };
        let root = self.kinds.get(schema).map(|(is_namespaced, has_status)| Root {
            ty: path.clone(),
            is_namespaced: *is_namespaced,
            subresources: has_status.then(|| "status".to_owned()).into_iter().collect(),
        });
        Configuration {
            name: configuration_name(schema),
            of: format!("[`{name}`]({})", path.to_string().replace(' ', "")),
            docs: description(definition),
            rename_all: Some("camelCase".to_owned()),
            fields: self.properties(schema, definition).into_iter().map(field).collect(),
            root,
        }
    }

    /// What a property is, in the module of its struct.
    fn property(&self, property: &Value, here: &str) -> Ty {
        if let Some(schema) = reference(property) {
            let (name, module) = (configuration_name(schema), module(schema));
            return match (self.configured.contains(schema), self.leaf(schema)) {
                (false, Some(leaf)) => Ty::Whole(leaf),
                _ if module == here => Ty::Configuration(quote!(#name)),
                _ => {
                    let module = format_ident!("{module}");
                    Ty::Configuration(quote!(crate::#module::#name))
                }
            };
        }
        match (property["type"].as_str(), property["format"].as_str()) {
            (Some("array"), _) => Ty::List(Box::new(self.property(&property["items"], here))),
            (Some("object"), _) => Ty::Map(Box::new(self.property(&property["additionalProperties"], here))),
            (Some("string"), Some("byte")) => Ty::Whole(quote!(k8s_openapi::ByteString)),
            (Some("string"), _) => Ty::Text,
            (Some("boolean"), _) => Ty::Whole(quote!(bool)),
            (Some("integer"), Some("int64")) => Ty::Whole(quote!(i64)),
            (Some("integer"), _) => Ty::Whole(quote!(i32)),
            (Some("number"), _) => Ty::Whole(quote!(f64)),
            _ => Ty::Whole(quote!(k8s_openapi::serde_json::Value)),
        }
    }

    /// The path of a type without properties, which is applied as a whole: a time, a quantity and so on.
    fn leaf(&self, schema: &str) -> Option<TokenStream> {
        let definition = self.definitions.get(schema)?;
        (!is_struct(definition)).then(|| rust_path(schema))
    }
}

/// The kinds that have a configuration.
fn kinds(schemas: &mut SchemaGenerator) -> BTreeMap<String, (bool, bool)> {
    let mut kinds = BTreeMap::new();
    macro_rules! kinds {
        ($($ty:ty),* $(,)?) => {$({
            schemas.subschema_for::<$ty>();
            let has_status = schemas.definitions().get(<$ty>::schema_name().as_ref())
                .is_some_and(|schema| schema["properties"].get("status").is_some());
            let is_namespaced = <<$ty as Resource>::Scope as HasNamespace>::IS_NAMESPACED;
            kinds.insert(<$ty>::schema_name().into_owned(), (is_namespaced, has_status));
        })*};
    }
    kinds! {
        apps::v1::DaemonSet, apps::v1::Deployment, apps::v1::StatefulSet, autoscaling::v1::Scale,
        autoscaling::v2::HorizontalPodAutoscaler, batch::v1::CronJob, batch::v1::Job, coordination::v1::Lease,
        core::v1::ConfigMap, core::v1::Namespace, core::v1::PersistentVolumeClaim, core::v1::Pod, core::v1::Secret,
        core::v1::Service, core::v1::ServiceAccount, networking::v1::Ingress, networking::v1::NetworkPolicy,
        policy::v1::PodDisruptionBudget, rbac::v1::ClusterRole, rbac::v1::ClusterRoleBinding, rbac::v1::Role,
        rbac::v1::RoleBinding,
    }
    kinds
}

fn is_struct(definition: &Value) -> bool {
    definition["properties"].is_object()
}

/// Calls with every schema that is referred to from here.
fn references(property: &Value, found: &mut impl FnMut(&str)) {
    if let Some(schema) = reference(property) {
        found(schema);
    }
    for below in ["items", "additionalProperties"] {
        if let Some(property) = property.get(below) {
            references(property, found);
        }
    }
}

fn reference(property: &Value) -> Option<&str> {
    property["$ref"].as_str()?.rsplit('/').next()
}

fn description(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().to_owned()
}

/// `ContainerApply` of `io.k8s.api.core.v1.Container`.
fn configuration_name(schema: &str) -> Ident {
    format_ident!("{}Apply", last(schema))
}

/// `core_v1` of `io.k8s.api.core.v1.Container`.
fn module(schema: &str) -> String {
    let mut parts = schema.rsplit('.').skip(1);
    let (version, group) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    format!("{group}_{version}")
}

/// `Container` of `io.k8s.api.core.v1.Container`.
fn last(schema: &str) -> &str {
    schema.rsplit('.').next().unwrap_or(schema)
}

/// `k8s_openapi::api::core::v1::Container` of `io.k8s.api.core.v1.Container`.
fn rust_path(schema: &str) -> TokenStream {
    let parts = schema.trim_start_matches("io.k8s.").split('.').map(|part| format_ident!("{}", part.replace('-', "_")));
    quote!(k8s_openapi #(::#parts)*)
}
