//! Types in `built_in` that are not kinds.

pub struct Sprocket;

kubewright_core::adopt! { built_in = [Sprocket, k8s_openapi::api::core::v1::PodSpec] }

fn main() {}
