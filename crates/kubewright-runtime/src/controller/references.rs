//! References of the reconciled objects to others by name, which an index finds.

use std::{any::TypeId, sync::Arc};

use k8s_openapi::ClusterResourceScope;

use crate::{
    informer::SharedInformer,
    object::{ApiObject, ObjectKey},
    store::{Index, IndexError},
};

/// The names of the indexes of one informer.
const NAMES: [&str; 8] = [
    "kubewright_runtime_reference_1",
    "kubewright_runtime_reference_2",
    "kubewright_runtime_reference_3",
    "kubewright_runtime_reference_4",
    "kubewright_runtime_reference_5",
    "kubewright_runtime_reference_6",
    "kubewright_runtime_reference_7",
    "kubewright_runtime_reference_8",
];

/// Indexes the objects of the informer by the object of kind `W` to which they refer. Returns the function from such an
/// object to the keys of those that refer to it.
///
/// # Errors
/// Fails if the informer has eight such indexes, or was stopped.
pub(super) fn references<K, W, F>(
    informer: &SharedInformer<K>,
    reference: F,
) -> Result<impl Fn(&W) -> Vec<ObjectKey> + use<K, W, F>, IndexError>
where
    K: ApiObject,
    W: ApiObject,
    F: for<'a> Fn(&'a K) -> Option<&'a str> + Send + Sync + 'static,
{
    let is_cluster_scoped = TypeId::of::<W::Scope>() == TypeId::of::<ClusterResourceScope>();
    let reference = Arc::new(reference);
    let values = move |object: &K| -> Vec<ObjectKey> {
        let namespace = object.meta().namespace.as_deref().filter(|_| !is_cluster_scoped).unwrap_or_default();
        reference(object).map(|name| ObjectKey::namespaced(namespace, name)).into_iter().collect()
    };
    let store = informer.store();
    let index = NAMES.iter().map(|name| Index::from_fn(name, values.clone())).find_map(|index| {
        match informer.add_index(index.clone()) {
            Err(IndexError::NameTaken(_)) => None,
            added => Some(added.map(|()| index)),
        }
    });
    let index = index.unwrap_or_else(|| Err(IndexError::NameTaken(NAMES[NAMES.len() - 1])))?;
    Ok(move |object: &W| store.index_keys(&index, &ObjectKey::from_object(object)))
}
