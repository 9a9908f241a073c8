//! Unknown keys of a kind.

#[path = "../kube_kinds.rs"]
mod kube_kinds;

kubewright_core::adopt! { custom_resources = [kube_kinds::Widget(statsu), kube_kinds::Theme(read_only)] }

fn main() {}
