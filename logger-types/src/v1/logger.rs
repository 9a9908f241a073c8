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
    /// Standard object's metadata.
    pub metadata: ObjectMeta,
    /// The desired state of the Logger.
    pub spec: LoggerSpec,
    /// The observed state of the Logger.
    pub status: Option<LoggerStatus>,
}

/// The desired state of a Logger.
#[derive(Clone, Debug, Default, PartialEq, ApplyConfiguration, DeepCopy, Deserialize, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoggerSpec {
    /// The name of the log, which is the prefix of its files.
    pub name: String,
    /// The interval between two writes in seconds, at least 1.
    #[schema(min = 1)]
    pub time_interval: i32,
    /// The number of instances that write the log. Defaults to 1.
    #[schema(min = 0)]
    pub replicas: Option<i32>,
}

/// The observed state of a Logger.
#[derive(Clone, Debug, Default, PartialEq, ApplyConfiguration, DeepCopy, Deserialize, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoggerStatus {
    /// The availability of the log.
    pub state: Option<LoggerState>,
    /// The `metadata.generation` that this status was computed from.
    pub observed_generation: Option<i64>,
    /// The number of instances that write the log.
    pub replicas: Option<i32>,
    /// The label selector of the instances as a string, which the scale subresource serves to autoscalers.
    pub selector: Option<String>,
    /// The conditions of the Logger, one of each type.
    #[schema(list_type = map, list_map_keys = ["type"])]
    pub conditions: Option<Vec<Condition>>,
}

/// The availability of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ApplyConfiguration, DeepCopy, Deserialize, KubeSchema, Serialize)]
pub enum LoggerState {
    /// At least one instance writes the log.
    Available,
    /// No instance writes the log.
    Unavailable,
}

/// A list of Loggers.
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, ObjectList)]
pub struct LoggerList {
    /// Standard list metadata.
    pub metadata: ListMeta,
    /// The Loggers.
    pub items: Vec<Logger>,
}
