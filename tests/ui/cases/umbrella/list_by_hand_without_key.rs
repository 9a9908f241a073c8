//! A list that is written by hand requires `#[k8s(list = ..)]`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use kubewright_core::{ApiObject, DeepCopy, ObjectList};

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget, WidgetList] }

#[derive(Clone, Debug, ApiObject)]
#[genclient]
pub struct Widget {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, DeepCopy, ObjectList)]
pub struct WidgetList {
    pub metadata: ListMeta,
    pub items: Vec<Widget>,
}

fn main() {}
