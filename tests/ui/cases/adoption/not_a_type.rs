//! Items that are not types.

logger_core::adopt! { built_in = ["Pod", k8s_openapi::api::core::v1::Pod = status] }

fn main() {}
