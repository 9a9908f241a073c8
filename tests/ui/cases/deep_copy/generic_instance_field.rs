//! A field of a generic type whose parameter does not implement `DeepCopy`.

use std::rc::Rc;

use kubewright_core::DeepCopy;

#[derive(DeepCopy)]
pub struct Bag<T> {
    pub items: Vec<T>,
}

#[derive(DeepCopy)]
pub struct Widget {
    pub parts: Bag<Rc<str>>,
}

fn main() {}
