//! What the runtime handles: objects of a kind that kube's client knows at compile time.

use std::fmt::Debug;

use kube::Resource;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Any kind whose facts kube knows without asking a server: one that derives `Object`, a type that kube's own
/// `CustomResource` derive made, or one of k8s-openapi's.
pub trait ApiObject:
    Resource<DynamicType = ()> + Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static
{
}

impl<K: Resource<DynamicType = ()> + Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static> ApiObject
    for K
{
}

/// Such as `loggers.example.com`.
pub(crate) fn resource<K: ApiObject>() -> String {
    let (group, plural) = (K::group(&()), K::plural(&()));
    match group.as_ref() {
        "" => plural.into_owned(),
        group => format!("{plural}.{group}"),
    }
}
