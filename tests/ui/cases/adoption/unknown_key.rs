//! An unknown key of the macro.

kubewright_core::adopt! { builtin = [k8s_openapi::api::core::v1::Pod] }

fn main() {}
