//! Two errors of two fields.

use std::rc::Rc;

use kubewright_core::DeepCopy;

#[derive(DeepCopy)]
pub struct Widget {
    pub a: Rc<str>,
    pub b: Rc<str>,
}

fn main() {}
