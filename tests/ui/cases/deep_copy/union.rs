//! A union.

use kubewright_core::DeepCopy;

#[derive(Clone, Copy, DeepCopy)]
pub union Widget {
    pub size: u32,
    pub weight: f32,
}

fn main() {}
