//! Finalizers: an object is only deleted after its cleanup has succeeded.

use std::sync::Arc;

use kube::api::{Patch, PatchParams};
use kubewright_core::verbs;
use serde_json::{Value, json};

use super::reconciler::{Action, ReconcileError};
use crate::{client::TypedClient, object::ApiObject};

/// What a reconciler of an object with a finalizer has to do.
#[derive(Debug)]
pub enum FinalizerEvent<K> {
    /// Reconcile the object. It has the finalizer.
    Apply(Arc<K>),
    /// Clean up, because the object is being deleted. The finalizer is removed when this succeeds.
    Cleanup(Arc<K>),
}

/// Reconciles an object that needs a cleanup before it is deleted, and adds and removes its finalizer.
///
/// Guarantees:
/// - if an `Apply` ever starts, a `Cleanup` must succeed before the object is deleted;
/// - the finalizer is added before the first `Apply`, which follows at once, with the updated object. So it does not
///   depend on the event of the update, which a predicate can filter;
/// - the finalizer is removed when a `Cleanup` returns [`Action::Done`]. After another action or an error it remains,
///   and the cleanup is repeated;
/// - the finalizers of others, and an object that was recreated under the same name, are not changed;
/// - an object that is being deleted without the finalizer is done.
///
/// Both events can be repeated, and a `Cleanup` can follow an `Apply` that failed or never ran.
///
/// ```
/// use std::sync::Arc;
///
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubewright_runtime::controller::{Action, ReconcileContext, FinalizerEvent, ReconcileError};
///
/// async fn reconcile(object: Arc<ConfigMap>, ctx: ReconcileContext) -> Result<Action, ReconcileError> {
///     ctx.finalize("example.com/cleanup", object, async |event| match event {
///         FinalizerEvent::Apply(object) => Ok::<_, ReconcileError>(Action::Done),
///         FinalizerEvent::Cleanup(object) => Ok(Action::Done),
///     })
///     .await
/// }
/// ```
///
/// # Errors
/// Fails with the error of the function, or if the finalizer cannot be added or removed.
pub async fn finalize<K, Fut, A, E>(
    client: &TypedClient<K>,
    finalizer: &str,
    object: Arc<K>,
    reconcile: impl FnOnce(FinalizerEvent<K>) -> Fut,
) -> Result<Action, ReconcileError>
where
    K: ApiObject + verbs::Patch,
    Fut: Future<Output = Result<A, E>>,
    A: Into<Action>,
    E: Into<ReconcileError>,
{
    let is_deleting = object.meta().deletion_timestamp.is_some();
    let index = object.meta().finalizers.iter().flatten().position(|other| other == finalizer);
    let event = match (index, is_deleting) {
        (Some(_), true) => FinalizerEvent::Cleanup(Arc::clone(&object)),
        (Some(_), false) => FinalizerEvent::Apply(Arc::clone(&object)),
        (None, false) => FinalizerEvent::Apply(Arc::new(patch(client, &object, addition(&*object, finalizer)).await?)),
        (None, true) => return Ok(Action::Done),
    };
    let action = reconcile(event).await.map(Into::into).map_err(Into::into)?;
    if let (Some(index), true, Action::Done) = (index, is_deleting, action) {
        match patch(client, &object, removal(index, finalizer)).await {
            Err(error) if !error.is_not_found() => return Err(error.into()),
            _ => {}
        }
    }
    Ok(action)
}

/// Returns the operations that add a finalizer, unless the finalizers were changed since the object was read.
fn addition<K: ApiObject>(object: &K, finalizer: &str) -> Vec<Value> {
    let path = "/metadata/finalizers";
    match object.meta().finalizers.as_deref().unwrap_or_default() {
        [] => vec![
            json!({"op": "test", "path": path, "value": null}),
            json!({"op": "add", "path": path, "value": [finalizer]}),
        ],
        others => vec![
            json!({"op": "test", "path": path, "value": others}),
            json!({"op": "add", "path": format!("{path}/-"), "value": finalizer}),
        ],
    }
}

/// Returns the operations that remove a finalizer, unless its position has changed.
fn removal(index: usize, finalizer: &str) -> Vec<Value> {
    let path = format!("/metadata/finalizers/{index}");
    vec![json!({"op": "test", "path": path, "value": finalizer}), json!({"op": "remove", "path": path})]
}

/// Patches this object, and not one that was recreated under the same name.
async fn patch<K: ApiObject + verbs::Patch>(
    client: &TypedClient<K>,
    object: &K,
    operations: Vec<Value>,
) -> Result<K, crate::error::Error> {
    let name = object.meta().name.as_deref().unwrap_or_default();
    let same_object = json!({"op": "test", "path": "/metadata/uid", "value": object.meta().uid});
    let operations = Value::Array([vec![same_object], operations].concat());
    let patch = serde_json::from_value(operations).map_err(kube::Error::SerdeError);
    let patch = Patch::<Value>::Json(patch.map_err(client.request_error("patch", name))?);
    client.patch(name, &patch, &PatchParams::default()).await
}
