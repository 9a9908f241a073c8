//! Kubernetes' own types, told by their schemas: what the generator makes of one must be what the definition says, but
//! for descriptions.

use std::sync::LazyLock;

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::networking::v1 as networking;
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use logger_crd::structural::{Options, structural};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::apply;

/// A type of k8s-openapi's.
#[derive(Debug)]
pub(super) struct Known {
    /// The module, `k8s_openapi::api::core::v1`.
    pub(super) module: &'static str,
    pub(super) name: &'static str,
    pub(super) has_default: bool,
    /// Whether it is applied as a whole: there is no apply configuration of it.
    pub(super) atomic: bool,
}

impl Known {
    /// Whether it is one of those that bring their descriptions with them.
    pub(super) fn is_struct(&self) -> bool {
        ![&TIME, &BYTES, &INT_OR_STRING, &QUANTITY, &RAW].contains(&self)
    }
}

impl PartialEq for Known {
    fn eq(&self, other: &Self) -> bool {
        (self.module, self.name) == (other.module, other.name)
    }
}

const META: &str = "k8s_openapi::apimachinery::pkg::apis::meta::v1";

pub(super) static TIME: Known = Known { module: META, name: "Time", has_default: false, atomic: false };
pub(super) static BYTES: Known = Known { module: "k8s_openapi", name: "ByteString", has_default: true, atomic: false };
pub(super) static INT_OR_STRING: Known = Known {
    module: "k8s_openapi::apimachinery::pkg::util::intstr",
    name: "IntOrString",
    has_default: true,
    atomic: false,
};
pub(super) static QUANTITY: Known = Known {
    module: "k8s_openapi::apimachinery::pkg::api::resource",
    name: "Quantity",
    has_default: true,
    atomic: false,
};
pub(super) static RAW: Known =
    Known { module: "k8s_openapi::apimachinery::pkg::runtime", name: "RawExtension", has_default: true, atomic: true };

/// The type of Kubernetes' own with this schema, and whether its descriptions are the same too. The one of the whole is
/// the field's.
pub(super) fn of_schema(schema: &Value) -> Option<(&'static Known, bool)> {
    let wanted = without_descriptions(schema);
    let found = STRUCTS.iter().find(|of| of.plain == wanted)?;
    Some((&found.known, found.described == *schema))
}

/// A struct of Kubernetes' own.
struct Struct {
    known: Known,
    /// Its schema, with the descriptions below it, and without.
    described: Value,
    plain: Value,
}

/// The pattern of a `Quantity`, as the generator writes it.
pub(super) fn quantity_pattern() -> Option<&'static str> {
    static SCHEMA: LazyLock<Value> =
        LazyLock::new(schema_of::<k8s_openapi::apimachinery::pkg::api::resource::Quantity>);
    SCHEMA.get("pattern").and_then(Value::as_str)
}

/// What operators embed.
static STRUCTS: LazyLock<Vec<Struct>> = LazyLock::new(|| {
    let mut structs = Vec::new();
    macro_rules! structs {
        ($path:literal, $module:ident: $($name:ident)*) => {$(
            let has_default = stringify!($name) != "Condition";
            let atomic = apply::kubernetes::ty(&$module::$name::schema_name()).is_none();
            let known = Known { module: $path, name: stringify!($name), has_default, atomic };
            let described = schema_of::<$module::$name>();
            structs.push(Struct { known, plain: without_descriptions(&described), described });
        )*};
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
    // One without fields, or that could be anybody's, is told by nothing.
    structs.retain(|of| is_telling(&of.plain));
    structs
});

/// Whether the schema tells the type: it has several fields, or says how they merge.
fn is_telling(schema: &Value) -> bool {
    let fields = schema["properties"].as_object().map_or(0, serde_json::Map::len);
    fields > 2 || (fields > 0 && schema.get("x-kubernetes-map-type").is_some())
}

/// What the generator makes of a type, in its normal form and without a description of the whole. Null if it refuses it.
fn schema_of<T: JsonSchema>() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.subschema_for::<T>().to_value();
    schema["$defs"] = Value::Object(generator.take_definitions(true));
    let options = Options { allow_floats: true, ..Options::default() };
    let mut made = structural(&schema, &options).map_or(json!(null), |structural| structural.schema);
    super::normal::schema(&mut made);
    made.as_object_mut().and_then(|node| node.remove("description"));
    made
}

/// A schema without its descriptions.
fn without_descriptions(schema: &Value) -> Value {
    let mut schema = schema.clone();
    strip(&mut schema);
    schema
}

fn strip(schema: &mut Value) {
    let Some(node) = schema.as_object_mut() else { return };
    node.remove("description");
    for (key, below) in node.iter_mut() {
        match key.as_str() {
            "properties" => below.as_object_mut().into_iter().flatten().for_each(|(_, schema)| strip(schema)),
            "items" | "additionalProperties" => strip(below),
            _ => {}
        }
    }
}
