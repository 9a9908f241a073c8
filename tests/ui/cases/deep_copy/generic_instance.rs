//! A generic type whose parameter does not implement `DeepCopy`.

use kubewright_core::DeepCopy;

#[derive(DeepCopy)]
pub struct Bag<T> {
    pub items: Vec<T>,
}

pub struct Plain;

pub fn copy(bag: &Bag<Plain>) -> Bag<Plain> {
    kubewright_core::DeepCopy::deep_copy(bag)
}

fn main() {}
