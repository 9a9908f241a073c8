//! Negative allowed values of a field.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Shift {
    pub metadata: ObjectMeta,
    pub spec: ShiftSpec,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct ShiftSpec {
    #[schema(values = [-1, 0, 1])]
    pub direction: i32,
}

kubewright_core::group_version! { group = "r18.reports.example", version = "v1", kinds = [Shift] }
