//! Several conversions of one kind.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{DeepCopy, Object};
use schemars::JsonSchema;

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Both, Located, Neither] }

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(conversion(webhook, none = "nothing is stored"))]
pub struct Both {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(conversion(webhook, service = "webhooks", namespace = "widgets"))]
pub struct Located {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(conversion(none = "nothing is stored", service = "webhooks", namespace = "widgets"))]
pub struct Neither {
    pub metadata: ObjectMeta,
}

fn main() {}
