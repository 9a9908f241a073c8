//! Container default by a function, without `Default`.

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
#[serde(default = "cautious")]
pub struct QuotaSpec {
    pub items: i32,
}

fn cautious() -> QuotaSpec {
    QuotaSpec { items: 10 }
}

kubewright_core::group_version! { group = "r02b.reports.example", version = "v1", kinds = [Quota] }
