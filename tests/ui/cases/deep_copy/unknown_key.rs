//! An unknown key.

use kubewright_core::DeepCopy;

#[derive(DeepCopy)]
#[deep_copy(skip)]
pub struct Widget {
    pub name: String,
}

pub fn copy(widget: &Widget) -> Widget {
    widget.deep_copy()
}

fn main() {}
