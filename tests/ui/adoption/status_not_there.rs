//! A status is mentioned that is not there.

#[path = "../kube_kinds.rs"]
mod kube_kinds;

logger_core::adopt! { custom_resources = [kube_kinds::Theme(status)] }

fn main() {}
