//! A field without a name.

use std::rc::Rc;

use kubewright_core::DeepCopy;

#[derive(DeepCopy)]
pub struct Widget(pub String, pub Rc<str>);

fn main() {}
