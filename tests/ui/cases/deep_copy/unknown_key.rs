//! An unknown key.

use logger_core::DeepCopy;

#[derive(DeepCopy)]
#[deep_copy(skip)]
pub struct Widget {
    pub name: String,
}

pub fn copy(widget: &Widget) -> Widget {
    widget.deep_copy()
}

fn main() {}
