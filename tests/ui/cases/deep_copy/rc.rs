//! An `Rc`.

use std::rc::Rc;

use kubewright_core::DeepCopy;

#[derive(DeepCopy)]
pub struct Widget {
    pub name: String,
    pub parts: Rc<Vec<String>>,
}

fn main() {}
