//! Kubernetes types, recognized by their schemas: the generated schema of the type must equal that of the definition,
//! except for descriptions.

use std::sync::LazyLock;

use k8s_openapi::{
    ByteString,
    api::{core::v1 as core, networking::v1 as networking},
    apimachinery::pkg::{
        api::resource::Quantity, apis::meta::v1 as meta, runtime::RawExtension, util::intstr::IntOrString,
    },
};
use kubewright_crd::structural::{self, Options};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::normalize;
use crate::apply;

/// A type of k8s-openapi.
#[derive(Debug)]
pub(super) struct KubernetesType {
    /// The module, such as `k8s_openapi::api::core::v1`.
    pub(super) module: &'static str,
    pub(super) name: &'static str,
    pub(super) has_default: bool,
    /// Whether it is applied atomically, because it has no apply configuration.
    pub(super) atomic: bool,
    /// Whether its schema contains descriptions.
    pub(super) is_struct: bool,
    /// Its schema.
    pub(super) schema: fn(&mut SchemaGenerator) -> Value,
    /// Decodes and encodes a value; `None` if it is invalid.
    pub(super) round_trip: fn(&Value) -> Option<Value>,
}

impl PartialEq for KubernetesType {
    fn eq(&self, other: &Self) -> bool {
        (self.module, self.name) == (other.module, other.name)
    }
}

const META: &str = "k8s_openapi::apimachinery::pkg::apis::meta::v1";

const fn scalar<T: JsonSchema + Serialize + DeserializeOwned>(
    module: &'static str,
    name: &'static str,
) -> KubernetesType {
    KubernetesType {
        module,
        name,
        has_default: true,
        atomic: false,
        is_struct: false,
        schema: subschema::<T>,
        round_trip: round_trip::<T>,
    }
}

pub(super) static TIME: KubernetesType = KubernetesType { has_default: false, ..scalar::<meta::Time>(META, "Time") };
pub(super) static BYTES: KubernetesType = KubernetesType {
    module: "k8s_openapi",
    name: "ByteString",
    has_default: true,
    atomic: false,
    is_struct: false,
    // It has no schema: the field sets that of a `String`.
    schema: subschema::<String>,
    round_trip: round_trip::<ByteString>,
};
pub(super) static INT_OR_STRING: KubernetesType =
    scalar::<IntOrString>("k8s_openapi::apimachinery::pkg::util::intstr", "IntOrString");
pub(super) static QUANTITY: KubernetesType =
    scalar::<Quantity>("k8s_openapi::apimachinery::pkg::api::resource", "Quantity");
pub(super) static RAW: KubernetesType = KubernetesType {
    atomic: true,
    ..scalar::<RawExtension>("k8s_openapi::apimachinery::pkg::runtime", "RawExtension")
};

fn subschema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().to_value()
}

fn round_trip<T: Serialize + DeserializeOwned>(value: &Value) -> Option<Value> {
    let decoded: T = serde_json::from_value(value.clone()).ok()?;
    serde_json::to_value(decoded).ok()
}

/// Returns the Kubernetes type with this schema of an object, and whether its descriptions are the same as well. The
/// description of the schema itself belongs to the field.
pub(super) fn type_of_schema(schema: &Map<String, Value>) -> Option<(&'static KubernetesType, bool)> {
    let properties = schema.get("properties")?.as_object()?;
    let has_fields = |candidate: &&Struct| {
        let fields = candidate.plain["properties"].as_object();
        fields.is_some_and(|fields| {
            fields.len() == properties.len() && fields.keys().all(|name| properties.contains_key(name))
        })
    };
    // Most schemas have other fields than each of the types, and copies of them would take most of the time.
    let mut candidates = STRUCTS.iter().filter(has_fields).peekable();
    candidates.peek()?;
    let mut schema = Value::Object(schema.clone());
    schema["type"] = json!("object");
    let wanted = without_descriptions(&schema);
    let found = candidates.find(|candidate| candidate.plain == wanted)?;
    Some((&found.known, found.described == schema))
}

/// A Kubernetes struct and its generated schema.
struct Struct {
    known: KubernetesType,
    /// Its schema with the descriptions below it, and without.
    described: Value,
    plain: Value,
}

/// Returns the pattern of the generated schema of a `Quantity`.
pub(super) fn quantity_pattern() -> Option<&'static str> {
    static SCHEMA: LazyLock<Value> = LazyLock::new(generated_schema::<Quantity>);
    SCHEMA.get("pattern").and_then(Value::as_str)
}

/// Structs that custom resources embed.
static STRUCTS: LazyLock<Vec<Struct>> = LazyLock::new(|| {
    let mut structs = Vec::new();
    macro_rules! structs {
        ($path:literal, $module:ident: $($name:ident)*) => {$({
            let has_default = stringify!($name) != "Condition";
            let atomic = apply::kubernetes::field_type(&$module::$name::schema_name()).is_none();
            let scalar = scalar::<$module::$name>($path, stringify!($name));
            let known = KubernetesType { has_default, atomic, is_struct: true, ..scalar };
            let described = generated_schema::<$module::$name>();
            structs.push(Struct { known, plain: without_descriptions(&described), described });
        })*};
    }
    structs!("k8s_openapi::apimachinery::pkg::apis::meta::v1", meta: Condition LabelSelector);
    structs!("k8s_openapi::api::networking::v1", networking: NetworkPolicyPeer);
    structs!("k8s_openapi::api::core::v1", core:
        Affinity ConfigMapEnvSource ConfigMapKeySelector ConfigMapVolumeSource Container ContainerPort EnvFromSource
        EnvVar EnvVarSource EphemeralVolumeSource HostAlias KeyToPath Lifecycle LocalObjectReference NodeAffinity
        NodeSelector NodeSelectorTerm ObjectFieldSelector ObjectReference PersistentVolumeClaimSpec PodAffinity
        PodAffinityTerm PodAntiAffinity PodDNSConfig PodSecurityContext PodSpec PodTemplateSpec Probe
        ProjectedVolumeSource ResourceFieldSelector ResourceRequirements SELinuxOptions SeccompProfile SecretEnvSource
        SecretKeySelector SecretReference SecretVolumeSource SecurityContext ServicePort Toleration
        TopologySelectorTerm TopologySpreadConstraint TypedLocalObjectReference TypedObjectReference Volume
        VolumeMount VolumeResourceRequirements
    );
    structs.retain(|candidate| is_distinctive(&candidate.plain));
    structs
});

/// Whether the schema identifies the type: it has several fields, or a merge strategy.
fn is_distinctive(schema: &Value) -> bool {
    let fields = schema["properties"].as_object().map_or(0, serde_json::Map::len);
    fields > 2 || (fields > 0 && schema.get("x-kubernetes-map-type").is_some())
}

/// Returns the generated schema of a type, normalized and without its own description. Null if it is invalid.
fn generated_schema<T: JsonSchema>() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.subschema_for::<T>().to_value();
    schema["$defs"] = Value::Object(generator.take_definitions(true));
    let options = Options { allow_floats: true, ..Options::default() };
    let mut generated = structural::convert(&schema, &options).map_or(json!(null), |structural| structural.schema);
    normalize::schema(&mut generated);
    generated.as_object_mut().and_then(|node| node.remove("description"));
    generated
}

/// Returns a schema without descriptions.
fn without_descriptions(schema: &Value) -> Value {
    let mut schema = schema.clone();
    remove_descriptions(&mut schema);
    schema
}

fn remove_descriptions(schema: &mut Value) {
    let Some(node) = schema.as_object_mut() else { return };
    node.remove("description");
    for (key, below) in node.iter_mut() {
        match key.as_str() {
            "properties" => {
                below.as_object_mut().into_iter().flatten().for_each(|(_, schema)| remove_descriptions(schema));
            }
            "items" | "additionalProperties" => remove_descriptions(below),
            _ => {}
        }
    }
}
