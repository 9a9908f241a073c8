//! Errors of the parser, the checks and the model, all at once.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ListMeta;
use kubewright_core::{DeepCopy, Object, ObjectList};
use schemars::JsonSchema;

#[path = "../uses.rs"]
mod uses;

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget, WidgetList] }

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient(non_namespace)]
#[k8s(plural = "Widgets", colour = "red", singular = 3)]
#[k8s(printcolumns = [date("Age", ".metadata.creationTimestamp").width(3)])]
pub struct Widget {
    pub spec: String,
    pub kind: String,
}

#[derive(Clone, Debug, DeepCopy, ObjectList)]
pub struct WidgetList {
    pub metadata: ListMeta,
    pub items: Vec<Widget>,
}

fn main() {}
