//! A default that is not serialized.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Probe {
    pub metadata: ObjectMeta,
    pub spec: ProbeSpec,
}

#[kubewright_core::defaults]
#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProbeSpec {
    #[default(true)]
    #[serde(skip_serializing_if = "is_true")]
    pub enabled: bool,
    #[default(30)]
    pub period: i32,
}

fn is_true(value: &bool) -> bool {
    *value
}

kubewright_core::group_version! { group = "r07.reports.example", version = "v1", kinds = [Probe] }
