//! Two kinds with the same name.

kubewright_core::adopt! { built_in = [k8s_openapi::api::core::v1::Event, k8s_openapi::api::events::v1::Event] }

fn main() {}
