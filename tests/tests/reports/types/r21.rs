//! A column on a field whose JSON name has dots.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Node {
    pub metadata: ObjectMeta,
    pub spec: NodeSpec,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct NodeSpec {
    #[serde(rename = "node.reports.example/zone")]
    #[schema(column = "Zone")]
    pub zone: String,
    #[serde(rename = "max-size")]
    #[schema(column = "Max")]
    pub max_size: i32,
}

kubewright_core::group_version! { group = "r21.reports.example", version = "v1", kinds = [Node] }
