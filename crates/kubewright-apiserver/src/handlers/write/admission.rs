//! Validating admission: the limit ranges and the quotas of the namespace.

use crate::{
    api::{endpoint::Endpoint, error::Result, object::Object},
    handlers::request::ResourceRequest,
    lifecycle::quotas::{self, Status},
    resource::{
        limit_range,
        quota::{self, Charge},
    },
    storage::state::State,
};

/// The manager of the usage that admission writes.
const MANAGER: &str = "kube-apiserver";

/// Validates a new object, or one in place of `old`. Returns the quotas that the write charges.
pub(super) fn validate(
    state: &State,
    request: &ResourceRequest,
    new: &Object,
    old: Option<&Object>,
) -> Result<Vec<Charge>> {
    if request.endpoint != Endpoint::Main || !request.kind.namespaced {
        return Ok(Vec::new());
    }
    limit_range::check(&state.store, &request.kind, new, old)?;
    quota::charge(&state.store, &request.kind, new, old)
}

/// Stores the usage of charged quotas.
pub(super) fn store_charges(state: &mut State, charges: &[Charge]) {
    for Charge { quota, used } in charges {
        quotas::set_status(state, quota, MANAGER, &Status { hard: None, used });
    }
}
