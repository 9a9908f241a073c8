//! A key that does not apply to a field.

use kubewright_core::DeepCopy;

#[derive(DeepCopy)]
pub struct Widget {
    pub name: String,
    #[deep_copy(skip)]
    pub cache: String,
}

pub fn copy(widget: &Widget) -> Widget {
    widget.deep_copy()
}

fn main() {}
