//! A field's type derives `DeepCopy` itself.

use logger_core::DeepCopy;

pub struct Part {
    pub name: String,
}

#[derive(DeepCopy)]
pub struct Widget {
    pub part: Part,
}

fn main() {}
