//! A verb of the status of a kind without a status.

#[path = "../kube_kinds.rs"]
mod kube_kinds;

kubewright_core::adopt! { custom_resources = [kube_kinds::Theme(only_verbs = [get, update_status])] }

fn main() {}
