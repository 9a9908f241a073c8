//! One kind that is not in a list.

kubewright_core::adopt! { built_in = k8s_openapi::api::core::v1::Pod }

fn main() {}
