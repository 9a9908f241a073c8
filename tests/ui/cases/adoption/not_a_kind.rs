//! The spec struct of kube's derive instead of its kind, and a type that is not a kind.

#[path = "../kube_kinds.rs"]
mod kube_kinds;

pub struct Sprocket;

kubewright_core::adopt! { custom_resources = [kube_kinds::WidgetSpec(status), Sprocket] }

fn main() {}
