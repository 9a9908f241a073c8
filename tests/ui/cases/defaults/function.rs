//! The attribute on an item that is neither a struct nor an enum.

#[logger_core::defaults]
pub fn spec() {}

fn main() {}
