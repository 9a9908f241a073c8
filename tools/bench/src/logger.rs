//! The Logger that every bench is about: one that is copied, and the pattern of as many kinds as are generated for.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ListMeta, ObjectMeta};
use logger_core::{DeepCopy, Object, ObjectList};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Logger writes user activity to files on a fixed interval.
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(short_names = ["lg"], subresource(status), printcolumns = [string("State", ".status.state")])]
pub struct Logger {
    /// Name, namespace, labels and all else that every object has.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: LoggerSpec,
    /// What was last observed.
    pub status: Option<LoggerStatus>,
}

/// LoggerSpec is what is wanted of a Logger.
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoggerSpec {
    /// Name of the log.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Seconds between two records.
    #[schemars(range(min = 1))]
    pub time_interval: i32,
    /// How many instances write the log.
    pub replicas: Option<i32>,
    /// Labels put on every record.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Where the records go.
    #[serde(default)]
    pub sinks: Vec<LoggerSink>,
}

/// LoggerSink is one destination of a Logger.
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoggerSink {
    /// The file.
    pub path: String,
    /// Bytes after which a new file is begun.
    pub max_size: Option<i64>,
    /// Time after which a new file is begun.
    pub rotate: Option<String>,
}

/// LoggerStatus is what was last observed of a Logger.
#[derive(Clone, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoggerStatus {
    /// Whether the log is being written.
    pub state: Option<LoggerState>,
    /// The generation that this status is about.
    pub observed_generation: Option<i64>,
    /// The observations in detail.
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

logger_core::group_version! { group = "example.com", version = "v1", kinds = [Logger, LoggerList] }
