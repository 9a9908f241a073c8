//! A duplicate kind.

kubewright_core::adopt! { built_in = [k8s_openapi::api::core::v1::Pod, k8s_openapi::api::core::v1::Pod] }

fn main() {}
