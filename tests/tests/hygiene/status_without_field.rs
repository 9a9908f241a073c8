//! A kind can have the status subresource without a `status` field.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::meta::ClientVerb;
use kubewright_core::{DeepCopy, Kind, Object};
use schemars::JsonSchema;

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(subresource(status))]
pub struct Widget {
    pub metadata: ObjectMeta,
}

#[test]
fn compiles() {
    let kind = Widget::API_KIND;
    assert!(kind.status && kind.grants(ClientVerb::Update) && !kind.grants(ClientVerb::UpdateStatus));
}
