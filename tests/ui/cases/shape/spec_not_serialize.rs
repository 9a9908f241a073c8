//! A field whose type does not implement serde's traits.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{DeepCopy, Object};
use schemars::JsonSchema;
use serde::Deserialize;

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, DeepCopy, JsonSchema, Deserialize)]
pub struct WidgetSpec {
    pub size: i32,
}

fn main() {}
