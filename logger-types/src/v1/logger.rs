//! The Logger kind.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ListMeta, ObjectMeta};
use logger_core::{ApplyConfiguration, DeepCopy, KubeSchema, Object, ObjectList};
use serde::{Deserialize, Serialize};

/// A Logger periodically writes user activity to files. At least one Logger must always survive.
#[derive(Clone, Debug, Default, PartialEq, ApplyConfiguration, DeepCopy, KubeSchema, Object)]
#[genclient]
#[k8s(short_names = ["lg"], categories = ["all"])]
#[k8s(subresource(
    status,
    scale(spec_path = ".spec.replicas", status_path = ".status.replicas", selector_path = ".status.selector")
))]
#[k8s(printcolumns = [
    string("State", ".status.state"),
    integer("Desired", ".spec.replicas"),
    integer("Interval", ".spec.timeInterval"),
    date("Age", ".metadata.creationTimestamp"),
])]
pub struct Logger {
    /// Name, namespace, labels and all else that every object has.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: LoggerSpec,
    /// What was last observed.
    pub status: Option<LoggerStatus>,
}

/// What is wanted of a Logger.
#[derive(Clone, Debug, Default, PartialEq, ApplyConfiguration, DeepCopy, Deserialize, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoggerSpec {
    /// Name of the log: the files are named after it.
    pub name: String,
    /// Seconds between two writes; at least 1.
    #[schema(min = 1)]
    pub time_interval: i32,
    /// How many instances write the log; 1 if unset.
    #[schema(min = 0)]
    pub replicas: Option<i32>,
}

/// What was last observed of a Logger.
#[derive(Clone, Debug, Default, PartialEq, ApplyConfiguration, DeepCopy, Deserialize, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoggerStatus {
    /// Whether the log is being written.
    pub state: Option<LoggerState>,
    /// The `metadata.generation` that this status is about.
    pub observed_generation: Option<i64>,
    /// How many instances are writing.
    pub replicas: Option<i32>,
    /// Label selector of the instances, as text: the scale subresource shows it to autoscalers.
    pub selector: Option<String>,
    /// The observations in detail, one of each type.
    #[schema(list_type = map, list_map_keys = ["type"])]
    pub conditions: Option<Vec<Condition>>,
}

/// Whether a log is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ApplyConfiguration, DeepCopy, Deserialize, KubeSchema, Serialize)]
pub enum LoggerState {
    /// At least one instance writes.
    Available,
    /// No instance writes.
    Unavailable,
}

/// A list of Loggers.
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, ObjectList)]
pub struct LoggerList {
    /// Version and continuation of the list.
    pub metadata: ListMeta,
    /// The Loggers.
    pub items: Vec<Logger>,
}
