//! Keys that adopted kinds do not support.

#[path = "../kube_kinds.rs"]
mod kube_kinds;

kubewright_core::adopt! {
    custom_resources = [
        kube_kinds::Theme(non_namespaced),
        kube_kinds::Widget(status, method(name = scale, verb = get), index(name = by_speed, by = crate::by_speed)),
    ],
}

fn main() {}
