//! A kind that is not registered is reported once, without its list.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::ApiObject;

#[derive(Clone, Debug, ApiObject)]
#[genclient]
pub struct Widget {
    pub metadata: ObjectMeta,
}

fn main() {}
