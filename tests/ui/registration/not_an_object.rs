//! Only kinds and lists are registered.

use logger_core::DeepCopy;

logger_core::group_version! { group = "example.com", version = "v1", kinds = [WidgetSpec] }

#[derive(Clone, Debug, DeepCopy)]
pub struct WidgetSpec {
    pub size: i32,
}

fn main() {}
