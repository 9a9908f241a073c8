//! The public API of the store and its listers, and what it allocates.
#![cfg(feature = "informers")]

mod allocations;
mod listers;
mod running_informer;

use k8s_openapi::api::core::v1::ConfigMap;

fn object(namespace: &str, name: &str) -> ConfigMap {
    let mut object = ConfigMap::default();
    object.metadata.namespace = Some(namespace.to_owned());
    object.metadata.name = Some(name.to_owned());
    object
}
