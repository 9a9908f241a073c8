//! Container default by a function that differs from `Default`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Quota {
    pub metadata: ObjectMeta,
    pub spec: QuotaSpec,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(rename_all = "camelCase")]
#[serde(default = "cautious")]
pub struct QuotaSpec {
    pub max_items: i32,
}

fn cautious() -> QuotaSpec {
    QuotaSpec { max_items: 10 }
}

impl Default for QuotaSpec {
    fn default() -> Self {
        QuotaSpec { max_items: 1000 }
    }
}

kubewright_core::group_version! { group = "r02.reports.example", version = "v1", kinds = [Quota] }
