//! Admission webhooks: the calls that a write needs, as its configurations specify.
//!
//! Requests are handled under the lock of the state, and webhooks are called without it: they may use this server
//! themselves. So a handler that needs a call adds it to the [`Session`] of its request and fails with
//! [`ApiError::WebhookPending`]. The server then makes the calls and handles the request again, with their outcomes.
//! An outcome is that of one state of the stored object: if another request has changed the object, webhooks are called
//! again, as after a conflict in the real server.
//!
//! The order is that of the real server: mutating webhooks one after the other, with defaults after each patch;
//! preparation and validation of the object; validating webhooks.

mod attributes;
mod call;
mod hook;
mod review;
mod session;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::DeleteOptions;
use serde_json::json;

use crate::{
    api::{
        endpoint::Endpoint,
        error::{ApiError, Result},
        object::{Object, Stored},
    },
    handlers::request::ResourceRequest,
    storage::state::State,
};

use attributes::Attributes;
pub(crate) use session::Session;
use session::{Call, Key, Outcome};

/// The type of a webhook.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Phase {
    Mutating,
    Validating,
}

/// Calls the mutating webhooks of a new object, or of one in place of `old`.
///
/// # Errors
/// A webhook denies the request or cannot be called, or the calls are pending.
pub(crate) fn mutate(
    state: &State,
    request: &ResourceRequest,
    object: &mut Object,
    old: Option<&Stored>,
    dry_run: bool,
) -> Result<()> {
    let Some(session) = session(request) else { return Ok(()) };
    let attributes = Attributes::of_write(request, old, object.name(), dry_run);
    let outcome = resolve(state, session, request, Phase::Mutating, attributes, Some(&*object))?;
    if let Some(mutated) = outcome.map(|outcome| outcome.result).transpose()?.flatten() {
        *object = mutated;
    }
    Ok(())
}

/// Calls the validating webhooks of a new object, which has its generated name.
///
/// # Errors
/// As [`mutate`].
pub(crate) fn validate_new(state: &State, request: &ResourceRequest, object: &mut Object, dry_run: bool) -> Result<()> {
    let Some(session) = session(request) else { return Ok(()) };
    let attributes = Attributes::of_write(request, None, object.name(), dry_run);
    let outcome = resolve(state, session, request, Phase::Validating, attributes, Some(&*object))?;
    // The object that is stored is the one that was validated. Its name and UID were generated for the calls.
    if let Some(validated) = outcome.map(|outcome| outcome.result).transpose()?.flatten() {
        let metadata = &mut object.metadata;
        metadata.name = validated.metadata.name.clone();
        metadata.uid = validated.metadata.uid.clone();
        metadata.creation_timestamp = validated.metadata.creation_timestamp.clone();
    }
    Ok(())
}

/// Calls the validating webhooks of an object in place of `old`.
///
/// # Errors
/// As [`mutate`].
pub(crate) fn validate_update(
    state: &State,
    request: &ResourceRequest,
    object: &Object,
    old: &Stored,
    dry_run: bool,
) -> Result<()> {
    let Some(session) = session(request) else { return Ok(()) };
    let attributes = Attributes::of_write(request, Some(old), old.name(), dry_run);
    let outcome = resolve(state, session, request, Phase::Validating, attributes, Some(object))?;
    outcome.map_or(Ok(()), |outcome| outcome.result.map(drop))
}

/// Calls the webhooks of a deletion.
///
/// # Errors
/// As [`mutate`].
pub(crate) fn check_deletion(
    state: &State,
    request: &ResourceRequest,
    old: &Stored,
    options: &DeleteOptions,
    dry_run: bool,
) -> Result<()> {
    let Some(session) = session(request) else { return Ok(()) };
    for phase in [Phase::Mutating, Phase::Validating] {
        let attributes = Attributes::of_deletion(request, old, json!(options), dry_run);
        let outcome = resolve(state, session, request, phase, attributes, None)?;
        outcome.map_or(Ok(()), |outcome| outcome.result.map(drop))?;
    }
    Ok(())
}

/// Calls the webhooks of the deletions of all these objects at once, before any of them is deleted.
///
/// # Errors
/// Calls are pending. Other errors are those of the objects, when they are deleted.
pub(crate) fn prepare_deletions(
    state: &State,
    request: &ResourceRequest,
    objects: &[Stored],
    options: &DeleteOptions,
    dry_run: bool,
) -> Result<()> {
    let mut is_pending = false;
    for object in objects {
        let checked = check_deletion(state, request, object, options, dry_run);
        is_pending |= matches!(checked, Err(ApiError::WebhookPending));
    }
    if is_pending { Err(ApiError::WebhookPending) } else { Ok(()) }
}

/// Returns the session of a request. Subresources with other kinds than the object call no webhooks.
fn session(request: &ResourceRequest) -> Option<&Session> {
    let is_other = matches!(request.endpoint, Endpoint::Pod(_) | Endpoint::Token | Endpoint::Scale(_));
    request.webhooks.as_deref().filter(|_| !is_other)
}

/// Returns the outcome of the webhooks of a phase; `None` if there are none. Adds their warnings to the response.
fn resolve(
    state: &State,
    session: &Session,
    request: &ResourceRequest,
    phase: Phase,
    attributes: Attributes,
    object: Option<&Object>,
) -> Result<Option<Outcome>> {
    let key = Key::new(phase, &attributes);
    if let Some(outcome) = session.outcome(&key) {
        request.warnings.borrow_mut().extend(outcome.warnings.iter().cloned());
        return Ok(Some(outcome));
    }
    let hooks = hook::matching(state, phase, &attributes)?;
    if hooks.is_empty() {
        return Ok(None);
    }
    session.add(Call { key, phase, hooks, attributes, object: object.cloned() });
    Err(ApiError::WebhookPending)
}
