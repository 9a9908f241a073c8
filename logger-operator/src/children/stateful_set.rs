//! The StatefulSet: agents with volume claims, spread over nodes.

use kubewright_apply::{
    apps_v1::{StatefulSetApply, StatefulSetSpecApply, StatefulSetUpdateStrategyApply},
    core_v1::{PersistentVolumeClaimApply, PersistentVolumeClaimSpecApply, VolumeResourceRequirementsApply},
};
use kubewright_core::apply::Metadata;
use logger_types::v2::{LoggerSpec, LoggerVolumeClaim};

use super::{
    AgentOptions,
    pod::{REVISION_HISTORY_LIMIT, VOLUME, selector, spread_template},
};
use crate::names::Names;

/// Distinguishes the agents of one revision, as for a Deployment.
const REVISION_LABEL: &str = "controller-revision-hash";
const DEFAULT_ACCESS_MODE: &str = "ReadWriteOnce";

/// The claims outlive the StatefulSet, which is the default of Kubernetes. Agents are independent of each other, so
/// they are started in parallel; an update replaces them one by one.
pub(super) fn stateful_set(names: &Names, spec: &LoggerSpec, replicas: i32, agent: &AgentOptions) -> StatefulSetApply {
    let claim = spec.storage.as_ref().and_then(|storage| storage.volume_claim.as_ref());
    let spec = StatefulSetSpecApply::new()
        .with_pod_management_policy("Parallel")
        .with_replicas(replicas)
        .with_revision_history_limit(REVISION_HISTORY_LIMIT)
        .with_selector(selector(names))
        .with_service_name(names.child())
        .with_template(spread_template(names, spec, agent, REVISION_LABEL))
        .with_update_strategy(StatefulSetUpdateStrategyApply::new().with_type("RollingUpdate"))
        .with_volume_claim_templates(claim.map(|claim| volume_claim(names, claim)));
    StatefulSetApply::new(names.child(), names.namespace()).with_labels(names.labels()).with_spec(spec)
}

/// Its labels are immutable, so they contain nothing that a later version changes.
fn volume_claim(names: &Names, claim: &LoggerVolumeClaim) -> PersistentVolumeClaimApply {
    let resources = VolumeResourceRequirementsApply::new().with_requests([("storage", claim.size.clone())]);
    let modes = claim.access_modes.clone().unwrap_or_else(|| vec![DEFAULT_ACCESS_MODE.to_owned()]);
    let spec = PersistentVolumeClaimSpecApply::new().with_access_modes(modes).with_resources(resources);
    let spec = match &claim.storage_class_name {
        Some(class) => spec.with_storage_class_name(class.as_str()),
        None => spec,
    };
    let metadata = Metadata::cluster(VOLUME);
    PersistentVolumeClaimApply::from_metadata(metadata).with_labels(names.selector_labels()).with_spec(spec)
}
