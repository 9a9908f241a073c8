//! A kind with `ListMeta`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ListMeta;
use kubewright_core::{DeepCopy, Object};
use schemars::JsonSchema;

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
pub struct Widget {
    pub metadata: ListMeta,
}

fn main() {}
