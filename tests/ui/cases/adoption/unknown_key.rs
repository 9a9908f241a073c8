//! An unknown key of the macro.

logger_core::adopt! { builtin = [k8s_openapi::api::core::v1::Pod] }

fn main() {}
