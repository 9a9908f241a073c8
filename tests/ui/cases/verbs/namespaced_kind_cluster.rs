//! A cluster-scoped client of a namespaced kind.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use logger_core::{DeepCopy, Object};
use logger_runtime::TypedClient;
use logger_runtime::kube::Client;
use schemars::JsonSchema;

logger_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

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
