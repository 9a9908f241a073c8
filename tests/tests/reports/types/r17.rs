//! Documentation from a file with the line endings of Windows.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

#[doc = include_str!("r17.md")]
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Page {
    pub metadata: ObjectMeta,
    pub spec: PageSpec,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct PageSpec {
    #[doc = include_str!("r17.md")]
    pub body: String,
}

kubewright_core::group_version! { group = "r17.reports.example", version = "v1", kinds = [Page] }
