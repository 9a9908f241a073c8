//! `Self` in the field of a type with a container default.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Menu {
    pub metadata: ObjectMeta,
    pub spec: MenuSpec,
}

#[derive(Clone, Debug, Default, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(default)]
pub struct MenuSpec {
    pub label: String,
    #[schema(depth = 2)]
    pub entries: Vec<Self>,
}

kubewright_core::group_version! { group = "r03.reports.example", version = "v1", kinds = [Menu] }
