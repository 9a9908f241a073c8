//! Container `default` and `rename_all` in one attribute.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{CrdSchema, DeepCopy, Object};
use serde::{Deserialize, Serialize};

/// A case.
#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Backup {
    pub metadata: ObjectMeta,
    pub spec: BackupSpec,
}

#[derive(Clone, Debug, DeepCopy, Deserialize, CrdSchema, Serialize)]
#[serde(default, rename_all = "camelCase")]
pub struct BackupSpec {
    pub keep_last: i32,
    pub target_path: String,
    pub retry_limit: Option<i32>,
}

impl Default for BackupSpec {
    fn default() -> Self {
        BackupSpec { keep_last: 7, target_path: "/var/backup".into(), retry_limit: None }
    }
}

kubewright_core::group_version! { group = "r01.reports.example", version = "v1", kinds = [Backup] }
