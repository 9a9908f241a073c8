//! An untagged enum whose last variant accepts anything.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Plugin {
    pub metadata: ObjectMeta,
    pub spec: PluginSpec,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct PluginSpec {
    pub config: Config,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(untagged)]
pub enum Config {
    Known { level: i32 },
    Other(serde_json::Value),
}

kubewright_core::group_version! { group = "r08.reports.example", version = "v1", kinds = [Plugin] }
