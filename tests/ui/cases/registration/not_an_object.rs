//! A type that is neither a kind nor a list.

use kubewright_core::DeepCopy;

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [WidgetSpec] }

#[derive(Clone, Debug, DeepCopy)]
pub struct WidgetSpec {
    pub size: i32,
}

fn main() {}
