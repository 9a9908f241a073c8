//! A choice of fields in a list without a maximum size.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Feed {
    pub metadata: ObjectMeta,
    pub spec: FeedSpec,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct FeedSpec {
    pub sources: Vec<Source>,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[schema(exactly_one_of = [git, http, bucket])]
pub struct Source {
    pub git: Option<String>,
    pub http: Option<String>,
    pub bucket: Option<String>,
}

kubewright_core::group_version! { group = "r26.reports.example", version = "v1", kinds = [Feed] }
