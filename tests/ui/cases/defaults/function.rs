//! The attribute on an item that is neither a struct nor an enum.

#[kubewright_core::defaults]
pub fn spec() {}

fn main() {}
