//! Negative allowed values of items, and a negative value that is not allowed.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Gauge {
    pub metadata: ObjectMeta,
    pub spec: GaugeSpec,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct GaugeSpec {
    #[schema(each(values = [-10, 0, 10]))]
    pub steps: Vec<i32>,
    #[schema(neq = -1)]
    pub limit: i64,
}

kubewright_core::group_version! { group = "r25.reports.example", version = "v1", kinds = [Gauge] }
