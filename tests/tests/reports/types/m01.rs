//! Types that look recursive, or like those of std, and are not.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Run {
    pub metadata: ObjectMeta,
    pub spec: RunSpec,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct RunSpec {
    pub trigger: Trigger,
    pub action: Action,
    pub pause: Pause,
    #[serde(flatten)]
    pub limits: Limits,
}

/// A field with the name of the flattened field.
#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct Limits {
    pub limits: Option<i32>,
}

/// Two variants with one struct.
#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(tag = "type")]
pub enum Trigger {
    Early(Stage),
    Late(Stage),
}

/// A variant with a struct, and another with a field of it.
#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(untagged)]
pub enum Action {
    Now(Stage),
    Later { stage: Stage },
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct Stage {
    pub runs: i32,
}

/// Fields with the names of those of a duration.
#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct Pause {
    pub secs: i64,
    pub nanos: i32,
}

kubewright_core::group_version! { group = "m01.reports.example", version = "v1", kinds = [Run] }
