//! The hub.

use std::collections::BTreeMap;

use kubewright_core::{
    Convert, CrdSchema, DeepCopy, Object, k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use serde::{Deserialize, Serialize};

/// A Widget.
#[derive(Clone, Convert, Debug, DeepCopy, CrdSchema, Object, PartialEq)]
#[genclient]
#[k8s(subresource(status))]
#[convert(hub)]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
    pub status: Option<WidgetStatus>,
}

/// The desired state.
#[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[convert(hub)]
pub struct WidgetSpec {
    /// The same in all versions.
    pub name: String,
    /// A duration.
    pub interval: String,
    /// Wider than in `v1`.
    pub size: Option<i64>,
    /// Required, but optional in `v1`.
    pub replicas: i32,
    /// Optional, but required in `v1`.
    pub level: Option<String>,
    pub mode: Mode,
    pub shape: Shape,
    /// Only in the hub.
    pub color: Option<String>,
    /// Only in the hub, and lost.
    pub debug: Option<bool>,
    /// Only in the hub, with a default.
    #[serde(default = "standard")]
    pub class: String,
    /// Identified by their names.
    #[serde(default)]
    #[schema(list_type = map, list_map_keys = ["id"])]
    pub rules: Vec<Rule>,
    /// Not identified.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// Only in some versions of the same name.
    #[serde(default)]
    pub limits: BTreeMap<String, Limit>,
    /// Inlined.
    #[serde(flatten)]
    pub place: Place,
    #[serde(default)]
    pub numbers: Vec<i64>,
}

fn standard() -> String {
    "standard".to_owned()
}

/// The observed state.
#[derive(Clone, Convert, Debug, Default, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[convert(hub)]
pub struct WidgetStatus {
    pub ready: Option<bool>,
    pub ready_replicas: Option<i32>,
}

/// A mode.
#[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
#[convert(hub)]
pub enum Mode {
    Memory,
    Disk,
    Replicated,
    Quorum,
}

/// A shape.
#[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
#[convert(hub)]
pub enum Shape {
    Square { side: i32 },
    Circle(Circle),
}

/// A circle.
#[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
#[convert(hub)]
pub struct Circle {
    pub radius: i32,
    pub filled: Option<bool>,
}

/// A rule.
#[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
#[convert(hub)]
pub struct Rule {
    pub id: String,
    pub weight: Option<i32>,
    pub comment: Option<String>,
}

/// A step.
#[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
#[convert(hub)]
pub struct Step {
    pub command: String,
    pub retries: Option<i32>,
    pub timeout: Option<String>,
}

/// A limit.
#[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
#[convert(hub)]
pub struct Limit {
    pub soft: Option<i32>,
    pub hard: Option<i32>,
}

/// A place.
#[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
#[convert(hub)]
pub struct Place {
    pub zone: Option<String>,
    pub rack: Option<String>,
}

kubewright_core::group_version! { group = "example.com", version = "v2", kinds = [Widget] }
