//! Locations that the API server rejects.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{DeepCopy, Object};
use schemars::JsonSchema;

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Named, Spaced, Pathless, Upper, Ported, Large] }

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(conversion(service = "Web_Hooks", namespace = "widgets"))]
pub struct Named {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(conversion(service = "webhooks", namespace = "widgets.example"))]
pub struct Spaced {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(conversion(service = "webhooks", namespace = "widgets", path = "convert"))]
pub struct Pathless {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(conversion(service = "webhooks", namespace = "widgets", path = "/Convert"))]
pub struct Upper {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(conversion(service = "webhooks", namespace = "widgets", port = 0))]
pub struct Ported {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(conversion(service = "webhooks", namespace = "widgets", port = 65536))]
pub struct Large {
    pub metadata: ObjectMeta,
}

fn main() {}
