//! A field without a name is named by its type.

use std::rc::Rc;

use logger_core::DeepCopy;

#[derive(DeepCopy)]
pub struct Widget(pub String, pub Rc<str>);

fn main() {}
