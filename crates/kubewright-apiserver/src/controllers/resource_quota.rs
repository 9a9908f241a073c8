//! The quota controller of kube-controller-manager: the status of a quota has its limits and the usage of its
//! namespace.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use kubewright_crd::quantity::Quantity;
use serde_json::{Value, json};

use crate::{
    api::object::Stored,
    lifecycle::quotas::{self, Status},
    resource::{
        amounts::{self, Amounts},
        quota::{self, evaluator::Evaluator},
    },
    storage::{state::State, store::Event},
};

/// The manager of the status.
const MANAGER: &str = "kube-controller-manager";

/// Updates the status of the quotas in the namespaces of these changes.
pub(crate) fn sync(state: &mut State, changes: &[Arc<Event>]) {
    if state.store.is_empty(quota::RESOURCE) {
        return;
    }
    let namespaces: BTreeSet<&str> = changes.iter().map(|event| event.namespace()).collect();
    for namespace in namespaces.into_iter().filter(|namespace| !namespace.is_empty()) {
        for quota in state.store.list(quota::RESOURCE, Some(namespace)) {
            sync_quota(state, &quota);
        }
    }
}

fn sync_quota(state: &mut State, quota: &Stored) {
    let hard = quota.field("spec.hard").cloned().unwrap_or_else(|| json!({}));
    let names: BTreeSet<&String> = hard.as_object().into_iter().flatten().map(|(name, _)| name).collect();
    // Resources that nothing measures retain the usage that others wrote.
    let mut used = amounts::parse(quota.field("status.used").unwrap_or(&Value::Null));
    used.extend(usage(state, quota, &names));
    used.retain(|name, _| names.contains(name));
    quotas::set_status(state, quota, MANAGER, &Status { hard: Some(&hard), used: &used });
}

/// Returns the usage of the limited resources in the namespace of a quota.
fn usage(state: &State, quota: &Stored, names: &BTreeSet<&String>) -> Amounts {
    // A kind in several versions is measured once.
    let kinds: BTreeMap<String, _> = state.registry.iter().map(|kind| (kind.storage_key(), kind)).collect();
    let mut usage = Amounts::new();
    for (resource, kind) in kinds {
        let Some(evaluator) = Evaluator::from_kind(kind) else { continue };
        let measured: Vec<&String> = names.iter().copied().filter(|name| evaluator.measures(name)).collect();
        if measured.is_empty() {
            continue;
        }
        usage.extend(measured.iter().map(|name| ((*name).clone(), Quantity::from_integer(0))));
        for object in state.store.list(&resource, Some(quota.namespace())) {
            if quota::is_selected(quota, &evaluator, &object) {
                let mut object_usage = evaluator.usage(&object);
                object_usage.retain(|name, _| measured.contains(&name));
                amounts::add(&mut usage, &object_usage);
            }
        }
    }
    usage
}
