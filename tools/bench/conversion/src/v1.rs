//! The spoke: the Logger of the other benchmarks.

use std::collections::BTreeMap;

use kubewright_core::{Convert, DeepCopy, Object, k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::v2;

/// Logger writes user activity to files on a fixed interval.
#[derive(Clone, Convert, Debug, Default, PartialEq, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(short_names = ["lg"], subresource(status))]
#[convert(hub = v2::Logger)]
pub(crate) struct Logger {
    /// Standard metadata of the object.
    pub metadata: ObjectMeta,
    /// The desired state.
    pub spec: LoggerSpec,
    /// The last observed state.
    pub status: Option<v2::LoggerStatus>,
}

/// LoggerSpec is the desired state of a Logger.
#[derive(Clone, Convert, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
#[convert(hub = v2::LoggerSpec)]
pub(crate) struct LoggerSpec {
    /// Name of the log.
    pub name: String,
    /// Seconds between two records.
    #[convert(from = "interval", with = seconds)]
    pub time_interval: i32,
    /// Number of instances that write the log.
    pub replicas: Option<i32>,
    /// Labels of every record.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Destinations of the records.
    #[serde(default)]
    #[convert(from = "destinations")]
    pub sinks: Vec<LoggerSink>,
}

/// LoggerSink is one destination of a Logger.
#[derive(Clone, Convert, Debug, Default, PartialEq, DeepCopy, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
#[convert(hub = v2::LoggerDestination)]
pub(crate) struct LoggerSink {
    /// The file.
    #[convert(from = "file")]
    pub path: String,
    /// Size in bytes at which a new file is started.
    pub max_size: Option<i64>,
    /// Interval after which a new file is started.
    pub rotate: Option<String>,
}

/// A number of seconds, and the same with its unit.
mod seconds {
    pub(super) fn to_hub(seconds: i32) -> String {
        format!("{seconds}s")
    }

    pub(super) fn from_hub(interval: String) -> i32 {
        interval.trim_end_matches('s').parse().unwrap_or_default()
    }
}

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Logger] }
