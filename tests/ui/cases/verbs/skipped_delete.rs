//! A skipped verb.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{DeepCopy, Object};
use kubewright_runtime::TypedClient;
use schemars::JsonSchema;

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient(skip_verbs = [delete])]
pub struct Widget {
    pub metadata: ObjectMeta,
}

pub async fn remove(widgets: &TypedClient<Widget>) {
    let _ = widgets.delete("a", &Default::default()).await;
}

fn main() {}
