//! The Logger of the benchmarks with kube's derive.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The desired state of a Logger.
#[derive(CustomResource, Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[kube(group = "example.com", version = "v1", kind = "Logger", namespaced, status = "LoggerStatus")]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoggerSpec {
    name: String,
    time_interval: i32,
    replicas: Option<i32>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    sinks: Vec<LoggerSink>,
}

/// One destination of a Logger.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoggerSink {
    path: String,
    max_size: Option<i64>,
    rotate: Option<String>,
}

/// The last observed state of a Logger.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoggerStatus {
    state: Option<LoggerState>,
    observed_generation: Option<i64>,
    #[serde(default)]
    conditions: Vec<Condition>,
}

/// Whether the log is being written.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
pub(crate) enum LoggerState {
    Available,
    Unavailable,
}
