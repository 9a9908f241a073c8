//! Values that are none of the known ones.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use kubewright_core::{DeepCopy, Object, ObjectList};
use schemars::JsonSchema;

#[path = "../uses.rs"]
mod uses;

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget, WidgetList] }

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
#[policy(rule = "true", reason = "Gone", failure_policy = "Maybe")]
#[policy(rule = "true", name = "log", actions = ["Log"])]
#[policy(default = "1", field = "spec.size", reinvocation = "Always")]
#[policy(rule = "true", name = "p", params(api_version = "v1", kind = "ConfigMap", not_found = "Warn"))]
pub struct Widget {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, DeepCopy, ObjectList)]
pub struct WidgetList {
    pub metadata: ListMeta,
    pub items: Vec<Widget>,
}

fn main() {}
