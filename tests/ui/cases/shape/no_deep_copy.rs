//! A kind without `DeepCopy`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::Object;
use schemars::JsonSchema;

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

#[derive(Clone, Debug, JsonSchema, Object)]
#[genclient]
pub struct Widget {
    pub metadata: ObjectMeta,
}

fn main() {}
