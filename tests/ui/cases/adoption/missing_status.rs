//! The key `status` of a kind without a status.

#[path = "../kube_kinds.rs"]
mod kube_kinds;

kubewright_core::adopt! { custom_resources = [kube_kinds::Theme(status)] }

fn main() {}
