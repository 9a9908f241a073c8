//! Items that are not of a kind.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ListMeta;
use kubewright_core::{DeepCopy, ObjectList};

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [WidgetList] }

#[derive(Clone, Debug, DeepCopy)]
pub struct Widget {
    pub name: String,
}

#[derive(Clone, Debug, DeepCopy, ObjectList)]
pub struct WidgetList {
    pub metadata: ListMeta,
    pub items: Vec<Widget>,
}

fn main() {}
