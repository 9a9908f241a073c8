//! A kind of kube's derive in `built_in`.

#[path = "../kube_kinds.rs"]
mod kube_kinds;

kubewright_core::adopt! { built_in = [kube_kinds::Widget] }

fn main() {}
