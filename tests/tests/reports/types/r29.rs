//! A field and a flattened field with the same JSON name and type.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Box1 {
    pub metadata: ObjectMeta,
    pub spec: BoxSpec,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct BoxSpec {
    pub name: String,
    #[serde(flatten)]
    pub label: Label,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct Label {
    pub name: String,
    pub color: Option<String>,
}

kubewright_core::group_version! { group = "r29.reports.example", version = "v1", kinds = [Box1] }
