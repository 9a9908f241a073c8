//! A keyword that is not there.

logger_core::adopt! { builtin = [k8s_openapi::api::core::v1::Pod] }

fn main() {}
