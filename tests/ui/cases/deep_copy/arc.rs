//! An `Arc` in an `Option`.

use std::sync::Arc;

use kubewright_core::DeepCopy;

#[derive(DeepCopy)]
pub struct Widget {
    pub name: String,
    pub parts: Option<Arc<str>>,
}

fn main() {}
