//! The Logger kind.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ListMeta, ObjectMeta};
use kubewright::core::{ApiObject, ApiType, DeepCopy, ObjectList};
use serde::{Deserialize, Serialize};

use crate::v2;

/// A Logger periodically writes user activity to files. At least one Logger must always survive.
#[derive(Clone, Debug, Default, PartialEq, ApiObject)]
#[genclient]
#[convert(hub = v2::Logger)]
#[k8s(list = LoggerList)]
#[k8s(lifecycle(introduced = "0.1", deprecated = "0.1", replacement = v2::Logger))]
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
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
#[serde(rename_all = "camelCase")]
#[convert(hub = v2::LoggerSpec, store = [placement, source, rotation, durability, storage, resources])]
pub struct LoggerSpec {
    /// The name of the log, which is the prefix of its files.
    pub name: String,
    /// The interval between two writes in seconds, at least 1.
    #[convert(from = "interval", with = seconds)]
    #[schema(min = 1)]
    pub time_interval: i32,
    /// The number of instances that write the log. Defaults to 1.
    #[schema(min = 0)]
    pub replicas: Option<i32>,
}

/// The observed state of a Logger.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
#[serde(rename_all = "camelCase")]
#[convert(hub = v2::LoggerStatus, store = [workload, desired_replicas, replicas, updated_replicas])]
pub struct LoggerStatus {
    /// The availability of the log.
    pub state: Option<LoggerState>,
    /// The `metadata.generation` that this status was computed from.
    pub observed_generation: Option<i64>,
    /// The number of instances that write the log.
    #[convert(from = "ready_replicas")]
    pub replicas: Option<i32>,
    /// The label selector of the instances as a string, which the scale subresource serves to autoscalers.
    pub selector: Option<String>,
    /// The conditions of the Logger, one of each type.
    #[schema(list_type = map, list_map_keys = ["type"])]
    pub conditions: Option<Vec<Condition>>,
}

/// The availability of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ApiType)]
#[convert(hub = v2::LoggerState)]
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

/// The interval: a number of seconds here, a duration in the hub.
mod seconds {
    use crate::duration;

    pub(super) fn to_hub(seconds: i32) -> String {
        format!("{seconds}s")
    }

    /// Returns a number whose duration differs for an interval that the number cannot express, which is then stored.
    pub(super) fn from_hub(interval: String) -> i32 {
        let seconds = duration::parse(&interval).map_or(0, |interval| interval.as_secs());
        i32::try_from(seconds).unwrap_or(i32::MAX)
    }
}
