//! A reference.

use kubewright_core::DeepCopy;

#[derive(DeepCopy)]
pub struct Widget {
    pub name: &'static str,
}

fn main() {}
