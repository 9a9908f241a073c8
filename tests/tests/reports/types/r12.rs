//! A flattened enum with a unit variant.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Fan {
    pub metadata: ObjectMeta,
    pub spec: FanSpec,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct FanSpec {
    pub name: String,
    #[serde(flatten)]
    pub mode: Option<Mode>,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    Auto,
    Manual { speed: i32 },
}

kubewright_core::group_version! { group = "r12.reports.example", version = "v1", kinds = [Fan] }
