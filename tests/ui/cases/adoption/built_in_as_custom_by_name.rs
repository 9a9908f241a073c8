//! A built-in kind in `custom_resources`, under another name.

pub use k8s_openapi::api::core::v1::ConfigMap;

kubewright_core::adopt! { custom_resources = [ConfigMap] }

fn main() {}
