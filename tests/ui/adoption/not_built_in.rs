//! Types that are no kinds, as built-in ones.

pub struct Sprocket;

logger_core::adopt! { built_in = [Sprocket, k8s_openapi::api::core::v1::PodSpec] }

fn main() {}
