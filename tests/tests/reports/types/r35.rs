//! `deny_unknown_fields` on a struct, a tagged enum and the struct in a variant.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Gate {
    pub metadata: ObjectMeta,
    pub spec: GateSpec,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct GateSpec {
    pub name: String,
    pub action: Action,
    pub limits: Option<Limits>,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub enum Action {
    Open { angle: i32 },
    Close,
    Reset(Limits),
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    pub max: i32,
}

kubewright_core::group_version! { group = "r35.reports.example", version = "v1", kinds = [Gate] }
