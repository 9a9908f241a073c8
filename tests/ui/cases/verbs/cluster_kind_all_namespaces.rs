//! A client for all namespaces of a cluster-scoped kind.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{DeepCopy, Object};
use kubewright_runtime::AllNamespaces;
use kubewright_runtime::kube::Client;
use schemars::JsonSchema;

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient(non_namespaced)]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub status: Option<String>,
}

pub fn client(client: Client) -> AllNamespaces<Widget> {
    AllNamespaces::new(client)
}

fn main() {}
