//! An apply request without a field manager.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use kubewright_core::{DeepCopy, Object, ObjectList};
use schemars::JsonSchema;

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget, WidgetList] }

#[derive(Clone, Debug, DeepCopy, JsonSchema, Object)]
#[genclient()]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub size: Option<i32>,
}

#[derive(Clone, Debug, DeepCopy, ObjectList)]
pub struct WidgetList {
    pub metadata: ListMeta,
    pub items: Vec<Widget>,
}

pub fn write<C>(widgets: &kubewright_runtime::TypedClient<Widget>, wanted: &C)
where
    C: kubewright_core::apply::ApplyConfiguration<Kind = Widget> + Sync,
{
    let _ = widgets.apply(wanted);
}

fn main() {}
