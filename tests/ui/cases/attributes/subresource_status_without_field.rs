//! The status subresource without a field for the status, and a misspelt warning in `allow(..)`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_core::ApiObject;

#[path = "../uses.rs"]
mod uses;

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

#[derive(Clone, Debug, ApiObject)]
#[genclient]
#[k8s(subresource(status), allow(version_nme))]
pub struct Widget {
    pub metadata: ObjectMeta,
}

fn main() {}
