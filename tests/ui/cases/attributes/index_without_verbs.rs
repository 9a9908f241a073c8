//! An index without `get`, `list` and `watch`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use kubewright_core::{DeepCopy, Object, ObjectList};
use schemars::JsonSchema;

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget, WidgetList] }

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient(readonly, index(name = by_size, by = Widget::sizes), only_verbs = [list])]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub size: Option<i32>,
}

#[derive(Clone, Debug, DeepCopy, ObjectList)]
pub struct WidgetList {
    pub metadata: ListMeta,
    pub items: Vec<Widget>,
}


fn main() {}
