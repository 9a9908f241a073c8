//! Writes the status of quotas.

use serde_json::{Value, json};

use crate::{
    api::{
        endpoint::Endpoint,
        object::{Object, Stored},
    },
    resource::{
        amounts::{self, Amounts},
        managed_fields::{self, Author},
        quota,
    },
    storage::state::State,
};

/// The status of a quota.
pub(crate) struct Status<'a> {
    /// The limits, if they change.
    pub(crate) hard: Option<&'a Value>,
    pub(crate) used: &'a Amounts,
}

/// Stores a status of a quota that differs from the current one.
pub(crate) fn set_status(state: &mut State, quota: &Stored, manager: &str, new: &Status<'_>) {
    let Some(kind) = state.registry.of_resource(quota::RESOURCE) else { return };
    let mut updated = Object::clone(quota);
    let status = updated.body.entry("status").or_insert_with(|| json!({}));
    if let Some(hard) = new.hard {
        status["hard"] = hard.clone();
    }
    status["used"] = amounts::to_json(new.used);
    if updated == **quota {
        return;
    }
    let author = Author { manager, kind: &kind, endpoint: &Endpoint::Status };
    managed_fields::track(author, Some(quota), &mut updated);
    state.store.put(quota::RESOURCE, updated);
}
