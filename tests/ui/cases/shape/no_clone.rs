//! A kind without `Clone`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use logger_core::{DeepCopy, Object};
use schemars::JsonSchema;

logger_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

#[derive(Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
pub struct Widget {
    pub metadata: ObjectMeta,
}

fn main() {}
