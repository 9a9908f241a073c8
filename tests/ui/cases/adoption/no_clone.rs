//! A `kube::Resource` that does not implement `Clone`.

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

#[derive(kube::Resource, serde::Deserialize, serde::Serialize)]
#[resource(inherit = "ConfigMap")]
pub struct Page {
    pub metadata: ObjectMeta,
}

#[derive(Clone, kube::Resource, serde::Deserialize, serde::Serialize)]
#[resource(inherit = "ConfigMap")]
pub struct Leaf {
    pub metadata: ObjectMeta,
}

kubewright_core::adopt! { custom_resources = [Page, Leaf] }

fn main() {}
