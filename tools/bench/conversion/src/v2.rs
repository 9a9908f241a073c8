//! The hub: Logger of the benchmarks with an interval that has a unit.

use std::collections::BTreeMap;

use kubewright_core::{
    Convert, DeepCopy, Object,
    k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Logger writes user activity to files on a fixed interval.
#[derive(Clone, Convert, Debug, Default, PartialEq, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(short_names = ["lg"], storage, subresource(status))]
#[convert(hub)]
pub(crate) struct Logger {
    /// Standard metadata of the object.
    pub metadata: ObjectMeta,
    /// The desired state.
    pub spec: LoggerSpec,
    /// The last observed state.
    pub status: Option<LoggerStatus>,
}

/// LoggerSpec is the desired state of a Logger.
#[derive(Clone, Convert, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
#[convert(hub)]
pub(crate) struct LoggerSpec {
    /// Name of the log.
    pub name: String,
    /// Time between two records, such as `17s`.
    pub interval: String,
    /// Number of instances that write the log.
    pub replicas: Option<i32>,
    /// Labels of every record.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Destinations of the records.
    #[serde(default)]
    pub destinations: Vec<LoggerDestination>,
}

/// LoggerDestination is one destination of a Logger.
#[derive(Clone, Convert, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
#[convert(hub)]
pub(crate) struct LoggerDestination {
    /// The file.
    pub file: String,
    /// Size in bytes at which a new file is started.
    pub max_size: Option<i64>,
    /// Interval after which a new file is started.
    pub rotate: Option<String>,
}

/// LoggerStatus is the last observed state of a Logger, the same in both versions.
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoggerStatus {
    /// Whether the log is being written.
    pub state: Option<String>,
    /// Generation of the spec that this status describes.
    pub observed_generation: Option<i64>,
    /// Conditions of the Logger.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

kubewright_core::group_version! { group = "example.com", version = "v2", kinds = [Logger] }
