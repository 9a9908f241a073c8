//! A kind that derives `Convert` and declares that nothing converts it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::{Convert, DeepCopy, Object};
use schemars::JsonSchema;

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

#[derive(Clone, Debug, Convert, DeepCopy, JsonSchema, Object)]
#[genclient]
#[convert(hub)]
#[k8s(conversion(none = "nothing is stored"))]
pub struct Widget {
    pub metadata: ObjectMeta,
}

fn main() {}
