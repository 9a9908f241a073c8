//! Its status is not mentioned, so its client would not write it.

#[path = "../kube_kinds.rs"]
mod kube_kinds;

logger_core::adopt! { custom_resources = [kube_kinds::Widget] }

fn main() {}
