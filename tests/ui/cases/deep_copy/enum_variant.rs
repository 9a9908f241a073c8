//! A field of a variant.

use std::rc::Rc;

use kubewright_core::DeepCopy;

#[derive(DeepCopy)]
pub enum Widget {
    Small,
    Big { parts: Rc<str> },
    Both(String, Rc<str>),
}

fn main() {}
