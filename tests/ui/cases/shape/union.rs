//! A kind that is a union.

use kubewright_core::{DeepCopy, Object};

kubewright_core::group_version! { group = "example.com", version = "v1", kinds = [Widget] }

#[derive(Clone, Copy, Object)]
#[genclient]
pub union Widget {
    pub size: u32,
    pub weight: f32,
}

impl std::fmt::Debug for Widget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Widget")
    }
}

impl DeepCopy for Widget {
    fn deep_copy(&self) -> Self {
        *self
    }
}

fn main() {}
