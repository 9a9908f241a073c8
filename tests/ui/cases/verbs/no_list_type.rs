//! A list request of a kind without a list type.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{DeepCopy, Object};
use kubewright_runtime::TypedClient;
use kubewright_runtime::kube::api::ListParams;
use schemars::JsonSchema;

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub status: Option<String>,
}

pub fn read(widgets: &TypedClient<Widget>) {
    let _ = widgets.list(&ListParams::default());
}

fn main() {}
