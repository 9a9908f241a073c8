//! The objects of the tests.

use k8s_openapi::api::core::v1::ConfigMap;

pub(crate) fn object(namespace: &str, name: &str) -> ConfigMap {
    let mut object = ConfigMap::default();
    object.metadata.namespace = Some(namespace.to_owned());
    object.metadata.name = Some(name.to_owned());
    object
}
