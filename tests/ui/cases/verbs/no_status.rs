//! `update_status` with `no_status`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{DeepCopy, Object};
use kubewright_runtime::TypedClient;
use kubewright_runtime::kube::api::PostParams;
use schemars::JsonSchema;

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient(no_status)]
#[k8s(subresource(status))]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub status: Option<String>,
}

pub async fn write(widgets: &TypedClient<Widget>, widget: &Widget) {
    let _ = widgets.update_status(widget, &PostParams::default()).await;
}

fn main() {}
