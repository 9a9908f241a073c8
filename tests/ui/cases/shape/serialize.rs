//! A kind that also derives serde's traits, which `Object` implements.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{DeepCopy, Object};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget, Gadget] }

#[derive(Clone, Debug, DeepCopy, Deserialize, JsonSchema, Object, Serialize)]
#[genclient]
pub struct Widget {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[derive(Deserialize, Serialize)]
#[genclient]
pub struct Gadget {
    pub metadata: ObjectMeta,
}

fn main() {}
