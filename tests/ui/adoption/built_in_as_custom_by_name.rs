//! A kind of Kubernetes' own among the custom resources, by a name of its own.

pub use k8s_openapi::api::core::v1::ConfigMap;

logger_core::adopt! { custom_resources = [ConfigMap] }

fn main() {}
