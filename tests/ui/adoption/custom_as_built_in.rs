//! A kind of kube's derive among the built-in ones.

#[path = "../kube_kinds.rs"]
mod kube_kinds;

logger_core::adopt! { built_in = [kube_kinds::Widget] }

fn main() {}
