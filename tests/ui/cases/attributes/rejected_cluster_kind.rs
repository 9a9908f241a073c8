//! A rejected cluster-scoped kind remains cluster-scoped for its clients.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{DeepCopy, Object};
use kubewright_runtime::TypedClient;
use kubewright_runtime::kube::Client;
use schemars::JsonSchema;

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Gadget, Widget] }

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient(non_namespaced)]
#[k8s(plural = "Widgets")]
pub struct Widget {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient]
#[k8s(scope = "Cluster", plural = "Gadgets")]
pub struct Gadget {
    pub metadata: ObjectMeta,
}

pub fn clients(client: Client) -> (TypedClient<Widget>, TypedClient<Gadget>) {
    (TypedClient::cluster(client.clone()), TypedClient::cluster(client))
}

fn main() {}
