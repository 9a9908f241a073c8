//! The kinds of the operator, declared with kube's derive.

use kube::CustomResource;
use kubewright_core::ApplyConfiguration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The desired state of a Probe: what it checks, and how often.
#[derive(Clone, Debug, ApplyConfiguration, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(group = "probes.example.dev", version = "v1", kind = "Probe", namespaced, status = "ProbeStatus")]
#[kube(printcolumn(name = "Healthy", type_ = "boolean", json_path = ".status.healthy"))]
#[kube(derive = "kubewright_core::ApplyConfiguration")]
#[serde(rename_all = "camelCase")]
pub struct ProbeSpec {
    /// The name of the checked host.
    #[schemars(length(min = 1))]
    pub target: String,
    /// The interval between two checks in seconds.
    #[schemars(range(min = 1))]
    #[serde(default = "minute")]
    pub interval_seconds: i32,
}

fn minute() -> i32 {
    60
}

/// The observed state of a Probe.
#[derive(Clone, Debug, ApplyConfiguration, Deserialize, JsonSchema, Serialize)]
pub struct ProbeStatus {
    /// Whether the target responds.
    pub healthy: bool,
}

kubewright_core::adopt! { custom_resources = [Probe(status)] }
