//! A cluster-scoped client of a namespaced kind.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{DeepCopy, Object};
use kubewright_runtime::TypedClient;
use kubewright_runtime::kube::Client;
use schemars::JsonSchema;

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub status: Option<String>,
}

pub fn client(client: Client) -> TypedClient<Widget> {
    TypedClient::cluster(client)
}

fn main() {}
