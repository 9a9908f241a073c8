//! Apply configurations of the types of k8s-openapi, from their schemas: types that operators embed, and kinds that
//! they often apply.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use k8s_openapi::{
    ClusterResourceScope, NamespaceResourceScope, Resource, SubResourceScope,
    api::{apps, autoscaling, batch, coordination, core, networking, policy, rbac},
    apimachinery::pkg::apis::meta::v1 as meta,
};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value};

use super::{Configuration, Field, FieldType, Root};
use crate::names;

/// Returns the configurations of each group and version, such as `core_v1`, sorted by the names of their schemas.
pub(crate) fn configurations() -> BTreeMap<String, Vec<Configuration>> {
    let mut modules: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (schema, definition) in KUBERNETES.configured() {
        let configuration = KUBERNETES.configuration(schema, definition);
        modules.entry(module(schema)).or_default().push(configuration);
    }
    modules
}

/// Returns the type of a field of a client crate that holds a type of k8s-openapi; `None` if that has no configuration.
pub(crate) fn field_type(schema: &str) -> Option<FieldType> {
    match KUBERNETES.configured.contains(schema) {
        true => {
            let (module, name) = (format_ident!("{}", module(schema)), configuration_name(schema));
            Some(FieldType::Configuration(quote!(kubewright_apply::#module::#name)))
        }
        false => KUBERNETES.leaf(schema).map(|leaf| FieldType::Atomic(quote!(kubewright_core::#leaf))),
    }
}

static KUBERNETES: LazyLock<Kubernetes> = LazyLock::new(Kubernetes::new);

/// The schemas of the types, by name.
struct Kubernetes {
    definitions: Map<String, Value>,
    /// The kinds by the names of their schemas: whether they are namespaced, and whether they have a status.
    kinds: BTreeMap<String, (bool, bool)>,
    /// The names of the schemas that have a configuration.
    configured: BTreeSet<String>,
}

/// Whether the objects of a kind are namespaced.
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
            kubernetes.add_configuration(&kind);
        }
        kubernetes.add_configuration(&meta::Condition::schema_name());
        kubernetes
    }

    /// Marks this type and all types of its fields as having a configuration.
    fn add_configuration(&mut self, schema: &str) {
        let definition = self.definitions.get(schema).cloned().unwrap_or_default();
        if !is_struct(&definition) || !self.configured.insert(schema.to_owned()) {
            return;
        }
        for (_, property) in self.properties(schema, &definition) {
            for_each_reference(property, &mut |schema| self.add_configuration(schema));
        }
    }

    fn configured(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.definitions.iter().filter(|(schema, _)| self.configured.contains(*schema))
    }

    /// Returns the properties that can be applied. The type and object metadata of a kind are part of every
    /// configuration, and fields that only the server writes are excluded.
    fn properties<'a>(&self, schema: &str, definition: &'a Value) -> Vec<(&'a String, &'a Value)> {
        let excluded: &[&str] = if self.kinds.contains_key(schema) {
            &["apiVersion", "kind", "metadata"]
        } else if schema == meta::ObjectMeta::schema_name() {
            &["managedFields", "selfLink"]
        } else {
            &[]
        };
        let properties = definition["properties"].as_object();
        properties.into_iter().flatten().filter(|(name, _)| !excluded.contains(&name.as_str())).collect()
    }

    fn configuration(&self, schema: &str, definition: &Value) -> Configuration {
        let (name, path, module) = (type_name(schema), rust_path(schema), module(schema));
        let field = |(json_name, property): (&String, &Value)| {
            let name = names::snake_case(json_name);
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
            target: format!("[`{name}`]({})", path.to_string().replace(' ', "")),
            docs: description(definition),
            rename_all: Some("camelCase".to_owned()),
            fields: self.properties(schema, definition).into_iter().map(field).collect(),
            root,
        }
    }

    /// Returns the type of a property of a struct in the module `here`.
    fn property(&self, property: &Value, here: &str) -> FieldType {
        if let Some(schema) = reference(property) {
            let (name, module) = (configuration_name(schema), module(schema));
            return match (self.configured.contains(schema), self.leaf(schema)) {
                (false, Some(leaf)) => FieldType::Atomic(leaf),
                _ if module == here => FieldType::Configuration(quote!(#name)),
                _ => {
                    let module = format_ident!("{module}");
                    FieldType::Configuration(quote!(crate::#module::#name))
                }
            };
        }
        match (property["type"].as_str(), property["format"].as_str()) {
            (Some("array"), _) => FieldType::List(Box::new(self.property(&property["items"], here))),
            (Some("object"), _) => FieldType::Map(Box::new(self.property(&property["additionalProperties"], here))),
            (Some("string"), Some("byte")) => FieldType::Atomic(quote!(k8s_openapi::ByteString)),
            (Some("string"), _) => FieldType::String,
            (Some("boolean"), _) => FieldType::Atomic(quote!(bool)),
            (Some("integer"), Some("int64")) => FieldType::Atomic(quote!(i64)),
            (Some("integer"), _) => FieldType::Atomic(quote!(i32)),
            (Some("number"), _) => FieldType::Atomic(quote!(f64)),
            _ => FieldType::Atomic(quote!(k8s_openapi::serde_json::Value)),
        }
    }

    /// Returns the path of a type without properties, which is applied atomically, such as a time or a quantity.
    fn leaf(&self, schema: &str) -> Option<TokenStream> {
        let definition = self.definitions.get(schema)?;
        (!is_struct(definition)).then(|| rust_path(schema))
    }
}

/// Returns the kinds that have a configuration.
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

/// Calls the function with every schema that the property refers to.
fn for_each_reference(property: &Value, found: &mut impl FnMut(&str)) {
    if let Some(schema) = reference(property) {
        found(schema);
    }
    for below in ["items", "additionalProperties"] {
        if let Some(property) = property.get(below) {
            for_each_reference(property, found);
        }
    }
}

fn reference(property: &Value) -> Option<&str> {
    property["$ref"].as_str()?.rsplit('/').next()
}

fn description(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().to_owned()
}

/// Returns `ContainerApply` for `io.k8s.api.core.v1.Container`.
fn configuration_name(schema: &str) -> Ident {
    format_ident!("{}Apply", type_name(schema))
}

/// Returns `core_v1` for `io.k8s.api.core.v1.Container`.
fn module(schema: &str) -> String {
    let mut parts = schema.rsplit('.').skip(1);
    let (version, group) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    format!("{group}_{version}")
}

/// Returns `Container` for `io.k8s.api.core.v1.Container`.
fn type_name(schema: &str) -> &str {
    schema.rsplit('.').next().unwrap_or(schema)
}

/// Returns `k8s_openapi::api::core::v1::Container` for `io.k8s.api.core.v1.Container`.
fn rust_path(schema: &str) -> TokenStream {
    let parts = schema.trim_start_matches("io.k8s.").split('.').map(|part| format_ident!("{}", part.replace('-', "_")));
    quote!(k8s_openapi #(::#parts)*)
}
