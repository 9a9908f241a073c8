//! Items that are not types.

kubewright_core::adopt! { built_in = ["Pod", k8s_openapi::api::core::v1::Pod = status] }

fn main() {}
