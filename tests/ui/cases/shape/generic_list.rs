//! A generic list.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use kubewright_core::{DeepCopy, Object, ObjectList};
use schemars::JsonSchema;

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
pub struct Widget {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, DeepCopy, ObjectList)]
pub struct WidgetList<T> {
    pub metadata: ListMeta,
    pub items: Vec<T>,
}

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

fn main() {}
