//! A flattened enum in an apply configuration.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use kubewright_core::{ApplyConfiguration, CrdSchema, DeepCopy, Object, ObjectList};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, CrdSchema, Object)]
#[genclient]
pub struct Mirror {
    pub metadata: ObjectMeta,
    pub spec: MirrorSpec,
}

#[derive(Clone, Debug, PartialEq, DeepCopy, ObjectList)]
pub struct MirrorList {
    pub metadata: ListMeta,
    pub items: Vec<Mirror>,
}

#[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MirrorSpec {
    pub interval: i32,
    #[serde(flatten)]
    pub source: Source,
}

#[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Source {
    Git(Git),
    Http(Http),
}

#[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct Git {
    pub branch: String,
}

#[derive(Clone, Debug, PartialEq, ApplyConfiguration, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct Http {
    pub url: String,
}

kubewright_core::group_version! { group = "r05.reports.example", version = "v1", kinds = [Mirror, MirrorList] }
