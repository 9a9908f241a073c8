//! A spoke.

use std::collections::BTreeMap;

use kubewright_core::{
    Convert, CrdSchema, DeepCopy, Object, k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use serde::{Deserialize, Serialize};

use super::v2;

/// A Widget.
#[derive(Clone, Convert, Debug, DeepCopy, CrdSchema, Object, PartialEq)]
#[genclient]
#[k8s(subresource(status))]
#[convert(hub = v2::Widget)]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
    pub status: Option<WidgetStatus>,
}

/// The desired state.
#[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[convert(hub = v2::WidgetSpec, store = [color], lost(debug = "for development"), default(class = "standard"))]
pub struct WidgetSpec {
    pub name: String,
    #[convert(from = "interval", with = seconds)]
    pub time_interval: i32,
    #[convert(store)]
    pub size: Option<i32>,
    #[convert(default = 1)]
    pub replicas: Option<i32>,
    #[convert(default = "info")]
    #[serde(rename = "logLevel")]
    pub level: String,
    pub mode: Mode,
    pub shape: Shape,
    /// Only in this version.
    #[convert(store)]
    pub paused: Option<bool>,
    /// Only in this version, and lost.
    #[convert(lost = "never released")]
    pub trace: Option<bool>,
    #[serde(default)]
    #[schema(list_type = map, list_map_keys = ["name"])]
    pub rules: Vec<Rule>,
    #[serde(default)]
    pub steps: Vec<Step>,
    #[serde(default)]
    pub limits: BTreeMap<String, Limit>,
    #[serde(flatten)]
    pub place: Place,
    #[serde(default)]
    #[convert(store)]
    pub numbers: Vec<i32>,
}

mod seconds {
    pub fn to_hub(seconds: i32) -> String {
        format!("{seconds}s")
    }

    pub fn from_hub(interval: String) -> i32 {
        let (number, factor) = match interval.strip_suffix('m') {
            Some(minutes) => (minutes, 60),
            None => (interval.trim_end_matches('s'), 1),
        };
        number.parse::<i32>().unwrap_or_default().saturating_mul(factor)
    }
}

/// The observed state.
#[derive(Clone, Convert, Debug, Default, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[convert(hub = v2::WidgetStatus, store = [ready_replicas])]
pub struct WidgetStatus {
    pub ready: Option<bool>,
}

/// A mode.
#[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
#[convert(hub = v2::Mode)]
pub enum Mode {
    #[convert(store = [Replicated], lost(Quorum = "for development"))]
    Memory,
    #[convert(from = "Disk")]
    File,
    #[convert(from = "Disk", store)]
    Tape,
}

/// A shape.
#[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[convert(hub = v2::Shape)]
pub enum Shape {
    Square {
        #[convert(from = "side")]
        width: i32,
    },
    Circle(Circle),
}

/// A circle.
#[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
#[convert(hub = v2::Circle, store = [filled])]
pub struct Circle {
    #[convert(with = double)]
    pub radius: i32,
}

/// The diameter in the hub, although it is called radius there.
mod double {
    pub fn to_hub(radius: i32) -> i32 {
        radius.saturating_mul(2)
    }

    pub fn from_hub(diameter: i32) -> i32 {
        diameter / 2
    }
}

/// A rule.
#[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
#[convert(hub = v2::Rule, store = [comment])]
pub struct Rule {
    #[convert(from = "id")]
    pub name: String,
    pub weight: Option<i32>,
    #[convert(store)]
    pub owner: Option<String>,
}

/// A step.
#[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
#[convert(hub = v2::Step, store = [timeout])]
pub struct Step {
    pub command: String,
    pub retries: Option<i32>,
}

/// A limit.
#[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
#[convert(hub = v2::Limit, store = [soft])]
pub struct Limit {
    #[convert(from = "hard")]
    pub max: Option<i32>,
}

/// A place.
#[derive(Clone, Convert, Debug, DeepCopy, Deserialize, CrdSchema, PartialEq, Serialize)]
#[convert(hub = v2::Place, store = [rack])]
pub struct Place {
    #[convert(from = "zone")]
    pub region: Option<String>,
}

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }
