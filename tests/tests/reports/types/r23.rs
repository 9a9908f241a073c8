//! Plurals by the rules of Go's client-gen.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Leaf {
    pub metadata: ObjectMeta,
    pub spec: EmptySpec,
}

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Life {
    pub metadata: ObjectMeta,
    pub spec: EmptySpec,
}

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Search {
    pub metadata: ObjectMeta,
    pub spec: EmptySpec,
}

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Autograph {
    pub metadata: ObjectMeta,
    pub spec: EmptySpec,
}

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct I {
    pub metadata: ObjectMeta,
    pub spec: EmptySpec,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct EmptySpec {}

kubewright_core::group_version! { group = "r23.reports.example", version = "v1", kinds = [Leaf, Life, Search, Autograph, I] }
