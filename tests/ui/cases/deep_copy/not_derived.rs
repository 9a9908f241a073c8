//! A field whose type does not derive `DeepCopy`.

use kubewright_core::DeepCopy;

pub struct Part {
    pub name: String,
}

#[derive(DeepCopy)]
pub struct Widget {
    pub part: Part,
}

fn main() {}
