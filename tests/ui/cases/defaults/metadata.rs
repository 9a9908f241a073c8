//! A default of the metadata.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use logger_core::{DeepCopy, Object};
use schemars::JsonSchema;

pub fn named() -> ObjectMeta {
    ObjectMeta::default()
}

#[logger_core::defaults]
#[derive(Clone, Debug, Default, DeepCopy, JsonSchema, Object)]
#[k8s(scope = "Cluster")]
pub struct Widget {
    #[default(with = named)]
    pub metadata: ObjectMeta,
}

logger_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

fn main() {}
