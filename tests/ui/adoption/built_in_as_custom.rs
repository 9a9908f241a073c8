//! A kind of Kubernetes' own among the custom resources.

logger_core::adopt! { custom_resources = [k8s_openapi::api::core::v1::ConfigMap] }

fn main() {}
