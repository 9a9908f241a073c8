//! Generic types are rejected once.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{ApiObject, ApiType};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, ApiObject)]
#[genclient]
pub struct Widget<T> {
    pub metadata: ObjectMeta,
    pub spec: T,
}

#[derive(Clone, Debug, Deserialize, Serialize, ApiType)]
pub struct WidgetSpec<T> {
    pub size: T,
}

fn main() {}
