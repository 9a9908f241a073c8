//! A reference shares what it points to.

use logger_core::DeepCopy;

#[derive(DeepCopy)]
pub struct Widget {
    pub name: &'static str,
}

fn main() {}
