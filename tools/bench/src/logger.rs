//! The Logger kind of all benchmarks, which is also the pattern of the generated kinds.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ListMeta, ObjectMeta};
use kubewright_core::{DeepCopy, Object, ObjectList};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Logger writes user activity to files on a fixed interval.
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(short_names = ["lg"], subresource(status), printcolumns = [string("State", ".status.state")])]
pub struct Logger {
    /// Standard metadata of the object.
    pub metadata: ObjectMeta,
    /// The desired state.
    pub spec: LoggerSpec,
    /// The last observed state.
    pub status: Option<LoggerStatus>,
}

/// LoggerSpec is the desired state of a Logger.
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoggerSpec {
    /// Name of the log.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Seconds between two records.
    #[schemars(range(min = 1))]
    pub time_interval: i32,
    /// Number of instances that write the log.
    pub replicas: Option<i32>,
    /// Labels of every record.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Destinations of the records.
    #[serde(default)]
    pub sinks: Vec<LoggerSink>,
}

/// LoggerSink is one destination of a Logger.
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoggerSink {
    /// The file.
    pub path: String,
    /// Size in bytes at which a new file is started.
    pub max_size: Option<i64>,
    /// Interval after which a new file is started.
    pub rotate: Option<String>,
}

/// LoggerStatus is the last observed state of a Logger.
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoggerStatus {
    /// Whether the log is being written.
    pub state: Option<LoggerState>,
    /// Generation of the spec that this status describes.
    pub observed_generation: Option<i64>,
    /// Conditions of the Logger.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

/// LoggerState is whether a log is being written.
#[derive(Clone, Copy, Debug, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
pub enum LoggerState {
    /// At least one instance writes.
    Available,
    /// No instance writes.
    Unavailable,
}

/// LoggerList is a list of Loggers.
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, ObjectList)]
pub struct LoggerList {
    /// Version and continuation of the list.
    pub metadata: ListMeta,
    /// The Loggers.
    pub items: Vec<Logger>,
}

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Logger, LoggerList] }
