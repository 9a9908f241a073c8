//! Keys of other attributes, and attributes of kinds on other types.

use kubewright_core::{ApiObject, CrdSchema};
use kubewright_core::k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Serialize};

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

#[derive(Clone, Debug, ApiObject)]
#[genclient(subresource(status))]
#[k8s(readonly)]
#[kube(group = "example.com", version = "v1", kind = "Widget")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: Option<i32>,
}

#[derive(CrdSchema, Deserialize, Serialize)]
#[k8s(plural = "widgets")]
pub struct WidgetSpec {
    #[schema(printcolumn = "Size")]
    pub size: i32,
    #[k8s(short_names = ["wg"])]
    pub name: String,
}

fn main() {}
