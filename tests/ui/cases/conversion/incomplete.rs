//! A Service without a namespace, and its keys without it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{DeepCopy, Object};
use schemars::JsonSchema;

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Nowhere, Alone, Mixed] }

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(conversion(service = "webhooks"))]
pub struct Nowhere {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(conversion(namespace = "widgets"))]
pub struct Alone {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(conversion(webhook, path = "/convert", port = 443))]
pub struct Mixed {
    pub metadata: ObjectMeta,
}

fn main() {}
