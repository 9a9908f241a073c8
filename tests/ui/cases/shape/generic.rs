//! A generic kind.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use kubewright_core::{DeepCopy, Object, ObjectList};
use schemars::JsonSchema;

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
pub struct Widget<T> {
    pub metadata: ObjectMeta,
    pub spec: T,
}

#[derive(Clone, Debug, DeepCopy, ObjectList)]
pub struct WidgetList {
    pub metadata: ListMeta,
    pub items: Vec<Widget<String>>,
}

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [WidgetList] }

fn main() {}
