//! The creation and deletion of pods by their controllers, with the events of kube-controller-manager.

use k8s_openapi::api::core::v1::Pod;
use kube::{
    ResourceExt,
    api::{DeleteParams, PostParams},
};
use kubewright_runtime::{Error, Preconditions, TypedClient, object::ApiObject};

use crate::environment::Recorder;

/// The maximum number of pods that one reconciliation creates or deletes, as in kube-controller-manager.
pub(super) const BURST: usize = 500;

/// Creates a pod of an owner.
///
/// # Errors
/// Fails if the pod is rejected or the request fails. This is also an event of the owner.
pub(super) async fn create<O: ApiObject>(
    pods: &TypedClient<Pod>,
    events: &Recorder,
    owner: &O,
    pod: &Pod,
) -> Result<Pod, Error> {
    match pods.create(pod, &PostParams::default()).await {
        Ok(created) => {
            events.normal(owner, "SuccessfulCreate", format!("Created pod: {}", created.name_any()));
            Ok(created)
        }
        Err(error) => {
            events.warning(owner, "FailedCreate", format!("Error creating: {error}"));
            Err(error)
        }
    }
}

/// Deletes a pod of an owner. A pod that no longer exists, or was recreated since, is ignored.
///
/// # Errors
/// Fails if the request fails. This is also an event of the owner.
pub(super) async fn delete<O: ApiObject>(
    pods: &TypedClient<Pod>,
    events: &Recorder,
    owner: &O,
    pod: &Pod,
) -> Result<(), Error> {
    let name = pod.name_any();
    let params = Preconditions::uid(pod).apply_to(DeleteParams::default());
    match pods.delete(&name, &params).await {
        Ok(()) => events.normal(owner, "SuccessfulDelete", format!("Deleted pod: {name}")),
        Err(error) if error.is_not_found() || error.is_conflict() => {}
        Err(error) => {
            events.warning(owner, "FailedDelete", format!("Error deleting: {error}"));
            return Err(error);
        }
    }
    Ok(())
}

/// Returns a number of pods as objects contain it.
pub(super) fn count(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// Returns a number of pods as an optional field contains it: Go omits zeros, so that an unchanged status is equal to
/// the stored one.
pub(super) fn nonzero(number: usize) -> Option<i32> {
    Some(count(number)).filter(|number| *number != 0)
}
