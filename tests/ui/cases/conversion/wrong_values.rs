//! Values of other types.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{DeepCopy, Object};
use schemars::JsonSchema;

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Flag, Number, Reasonless, Text, Twice] }

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(conversion(webhook = true))]
pub struct Flag {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(conversion(service = 3, namespace = "widgets"))]
pub struct Number {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(conversion(none))]
pub struct Reasonless {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(conversion = "Webhook")]
pub struct Text {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(conversion(none = "a", none = "b"))]
pub struct Twice {
    pub metadata: ObjectMeta,
}

fn main() {}
