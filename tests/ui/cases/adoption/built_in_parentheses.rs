//! Keys of a built-in kind.

kubewright_core::adopt! { built_in = [k8s_openapi::api::core::v1::Pod(readonly)] }

fn main() {}
