//! A kind does not derive `Serialize` and `Deserialize`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::ApiObject;
use serde::{Deserialize, Serialize};

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

#[derive(Clone, Debug, ApiObject)]
#[derive(Deserialize, Serialize)]
#[genclient]
pub struct Widget {
    pub metadata: ObjectMeta,
}

fn main() {}
