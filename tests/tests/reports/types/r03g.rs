//! A generic type with a container default.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Knob {
    pub metadata: ObjectMeta,
    pub spec: Setting<i32>,
}

#[derive(Clone, Debug, Default, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(default)]
pub struct Setting<T> {
    pub value: T,
    pub note: String,
}

kubewright_core::group_version! { group = "r03g.reports.example", version = "v1", kinds = [Knob] }
