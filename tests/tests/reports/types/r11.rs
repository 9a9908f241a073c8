//! A tagged enum inside a tagged enum.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Sink {
    pub metadata: ObjectMeta,
    pub spec: SinkSpec,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct SinkSpec {
    pub output: Output,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Output {
    Console,
    Storage(Storage),
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(tag = "provider", rename_all = "camelCase")]
pub enum Storage {
    Bucket { name: String },
    Disk { path: String, quota: Option<i64> },
}

kubewright_core::group_version! { group = "r11.reports.example", version = "v1", kinds = [Sink] }
