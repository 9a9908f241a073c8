//! A kind with a status without the key `status`.

#[path = "../kube_kinds.rs"]
mod kube_kinds;

kubewright_core::adopt! { custom_resources = [kube_kinds::Widget] }

fn main() {}
