//! An empty tuple variant.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Valve {
    pub metadata: ObjectMeta,
    pub spec: ValveSpec,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct ValveSpec {
    pub state: State,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum State {
    Closed(),
    Open { percent: i32 },
}

kubewright_core::group_version! { group = "r13.reports.example", version = "v1", kinds = [Valve] }
