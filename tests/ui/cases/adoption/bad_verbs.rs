//! Unknown verbs, and keys that exclude each other.

#[path = "../kube_kinds.rs"]
mod kube_kinds;

kubewright_core::adopt! {
    custom_resources = [kube_kinds::Widget(status, only_verbs = [gett, explode]), kube_kinds::Theme(readonly, no_verbs)],
}

fn main() {}
