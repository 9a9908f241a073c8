//! The store and its listers from outside: what users call, and what that allocates.
#![cfg(feature = "informers")]

mod allocations;
mod informed;
mod listers;

use k8s_openapi::api::core::v1::ConfigMap;

fn object(namespace: &str, name: &str) -> ConfigMap {
    let mut object = ConfigMap::default();
    object.metadata.namespace = Some(namespace.to_owned());
    object.metadata.name = Some(name.to_owned());
    object
}
