//! A kind with a status without the key `status`.

#[path = "../kube_kinds.rs"]
mod kube_kinds;

logger_core::adopt! { custom_resources = [kube_kinds::Widget] }

fn main() {}
