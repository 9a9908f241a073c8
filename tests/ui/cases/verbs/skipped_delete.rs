//! A skipped verb.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use logger_core::{DeepCopy, Object};
use logger_runtime::TypedClient;
use schemars::JsonSchema;

logger_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient(skip_verbs = [delete])]
pub struct Widget {
    pub metadata: ObjectMeta,
}

pub async fn remove(widgets: &TypedClient<Widget>) {
    let _ = widgets.delete("a", &Default::default()).await;
}

fn main() {}
