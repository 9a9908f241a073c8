//! An `Arc` shares what it points to, in an option too.

use std::sync::Arc;

use logger_core::DeepCopy;

#[derive(DeepCopy)]
pub struct Widget {
    pub name: String,
    pub parts: Option<Arc<str>>,
}

fn main() {}
