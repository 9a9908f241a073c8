//! A kind that is compiled conditionally: not in this test.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Stable {
    pub metadata: ObjectMeta,
    pub spec: EmptySpec,
}

#[cfg(not(test))]
/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Alpha {
    pub metadata: ObjectMeta,
    pub spec: EmptySpec,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct EmptySpec {}

kubewright_core::group_version! { group = "r24.reports.example", version = "v1", kinds = [Stable, #[cfg(not(test))] Alpha] }
