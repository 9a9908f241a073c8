//! The declared list is that of the kind.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use kubewright_core::{ApiObject, DeepCopy, ObjectList};

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget, Gadget, Widgets] }

#[derive(Clone, Debug, ApiObject)]
#[genclient]
pub struct Widget {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, ApiObject)]
#[genclient]
#[k8s(list = Widgets)]
pub struct Gadget {
    pub metadata: ObjectMeta,
}

#[derive(Clone, Debug, DeepCopy, ObjectList)]
pub struct Widgets {
    pub metadata: ListMeta,
    pub items: Vec<Gadget>,
}

#[derive(Clone, Debug, ApiObject)]
#[genclient]
#[k8s(list = WidgetList)]
pub struct Part {
    pub metadata: ObjectMeta,
}

fn main() {}
