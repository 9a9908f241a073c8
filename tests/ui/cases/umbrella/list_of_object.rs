//! `Object` does not generate a list.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use kubewright_core::{CrdSchema, DeepCopy, Object, ObjectList};

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget, WidgetList] }

#[derive(Clone, Debug, CrdSchema, DeepCopy, Object)]
#[genclient]
#[k8s(list = WidgetList)]
pub struct Widget {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, DeepCopy, ObjectList)]
pub struct WidgetList {
    pub metadata: ListMeta,
    pub items: Vec<Widget>,
}

fn main() {}
