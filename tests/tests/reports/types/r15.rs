//! Doc comments that begin with `#`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Task {
    pub metadata: ObjectMeta,
    pub spec: TaskSpec,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
pub struct TaskSpec {
    /// #1 priority tasks start first.
    pub priority: i32,
    /// # Retries
    ///
    /// How often a failed task starts again.
    pub retries: i32,
}

kubewright_core::group_version! { group = "r15.reports.example", version = "v1", kinds = [Task] }
