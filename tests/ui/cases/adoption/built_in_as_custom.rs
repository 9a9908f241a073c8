//! A built-in kind in `custom_resources`.

kubewright_core::adopt! { custom_resources = [k8s_openapi::api::core::v1::ConfigMap] }

fn main() {}
