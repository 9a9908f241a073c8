//! A built-in struct, an optional struct and a map, each flattened.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::core::v1::LocalObjectReference,
    apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta},
};
use kubewright_core::{ApplyConfiguration, CrdSchema, DeepCopy, Object, ObjectList};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, CrdSchema, Object)]
#[genclient]
pub struct Mount {
    pub metadata: ObjectMeta,
    pub spec: MountSpec,
}

#[derive(Clone, Debug, PartialEq, DeepCopy, ObjectList)]
pub struct MountList {
    pub metadata: ListMeta,
    pub items: Vec<Mount>,
}

#[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct MountSpec {
    #[serde(flatten)]
    pub secret: LocalObjectReference,
    #[serde(flatten)]
    pub limits: Option<Limits>,
    #[serde(flatten)]
    pub more: BTreeMap<String, serde_json::Value>,
}

#[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct Limits {
    pub size: i64,
    pub files: Option<i64>,
}

kubewright_core::group_version! { group = "r33.reports.example", version = "v1", kinds = [Mount, MountList] }
