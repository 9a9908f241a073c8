//! What API types and reconcilers import: `use kubewright::prelude::*;`.

pub use std::{process::ExitCode, sync::Arc, time::Duration};

pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
pub use serde::{Deserialize, Serialize};

#[cfg(feature = "runtime")]
pub use crate::{
    Action, Controller, ObjectKey, ReconcileContext, ReconcileError,
    runtime::{
        controller::{Allow, Verb},
        kube::ResourceExt,
    },
};
pub use crate::{
    ApiObject, ApiType, ApplyConfiguration, Conditions, Convert, CrdSchema, DeepCopy, Object, ObjectList, new_condition,
};
#[cfg(feature = "manager")]
pub use crate::{Operator, Replicas, Setup};
