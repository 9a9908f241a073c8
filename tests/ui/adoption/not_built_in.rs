//! A type that is no kind, and one of an alpha version, as built-in kinds.

pub struct Sprocket;

logger_core::adopt! { built_in = [Sprocket, k8s_openapi::api::core::v1::PodSpec] }

fn main() {}
