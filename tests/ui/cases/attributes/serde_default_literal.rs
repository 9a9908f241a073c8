//! A default that is not a function.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{DeepCopy, Object};
use schemars::JsonSchema;

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[k8s(scope = "Cluster")]
pub struct Widget {
    pub metadata: ObjectMeta,
    #[serde(default = 3)]
    pub size: i32,
}

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

fn main() {}
