//! The derive of a kind on a list, that of a list on a kind, and metadata that can be absent.

use kubewright_core::{
    CrdSchema, DeepCopy, Object, ObjectList,
    k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta},
};

#[derive(Clone, Debug, DeepCopy, CrdSchema, ObjectList)]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub size: i32,
}

#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
pub struct WidgetList {
    pub metadata: ListMeta,
    pub items: Vec<Part>,
}

#[derive(Clone, Debug, DeepCopy, CrdSchema, Object)]
#[k8s(scope = "Namespaced")]
pub struct Part {
    pub metadata: Option<ObjectMeta>,
}

fn main() {}
