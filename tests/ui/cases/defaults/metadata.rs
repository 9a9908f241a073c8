//! A default of the metadata.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{DeepCopy, Object};
use schemars::JsonSchema;

pub fn named() -> ObjectMeta {
    ObjectMeta::default()
}

#[kubewright_core::defaults]
#[derive(Clone, Debug, Default, DeepCopy, JsonSchema, Object)]
#[k8s(scope = "Cluster")]
pub struct Widget {
    #[default(with = named)]
    pub metadata: ObjectMeta,
}

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

fn main() {}
