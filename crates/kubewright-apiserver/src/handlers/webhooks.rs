//! Admission webhooks: the calls that a write needs, as its configurations specify.
//!
//! The state is not locked while a webhook is called: it may use this server itself. The order is that of the real
//! server: mutating webhooks one after the other, with defaults after each patch; preparation and validation of the
//! object; validating webhooks at once.

mod attributes;
mod call;
mod hook;
mod review;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::DeleteOptions;
use serde_json::json;

use crate::{
    api::{
        endpoint::Endpoint,
        error::Result,
        object::{Object, Stored},
    },
    controllers::controlled_state::ControlledState,
    handlers::request::ResourceRequest,
};

use attributes::Attributes;
use call::{Call, Outcome};

/// The type of a webhook.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Phase {
    Mutating,
    Validating,
}

/// Returns a new object, or one in place of `old`, as the mutating webhooks change it.
///
/// # Errors
/// A webhook denies the request or cannot be called.
pub(crate) async fn mutate(
    state: &ControlledState,
    request: &ResourceRequest,
    object: Object,
    old: Option<&Stored>,
    dry_run: bool,
) -> Result<Object> {
    let attributes = || Attributes::from_write(request, old, object.name(), dry_run);
    let outcome = call(state, request, Phase::Mutating, attributes, Some(&object)).await?;
    Ok(outcome.unwrap_or(object))
}

/// Calls the validating webhooks of a new object, or of one in place of `old`.
///
/// # Errors
/// As [`mutate`].
pub(crate) async fn validate(
    state: &ControlledState,
    request: &ResourceRequest,
    object: &Object,
    old: Option<&Stored>,
    dry_run: bool,
) -> Result<()> {
    let name = old.map_or(object.name(), |old| old.name());
    let attributes = || Attributes::from_write(request, old, name, dry_run);
    call(state, request, Phase::Validating, attributes, Some(object)).await.map(drop)
}

/// Calls the webhooks of a deletion.
///
/// # Errors
/// As [`mutate`].
pub(crate) async fn check_deletion(
    state: &ControlledState,
    request: &ResourceRequest,
    old: &Stored,
    options: &DeleteOptions,
    dry_run: bool,
) -> Result<()> {
    for phase in [Phase::Mutating, Phase::Validating] {
        let attributes = || Attributes::from_deletion(request, old, json!(options), dry_run);
        call(state, request, phase, attributes, None).await?;
    }
    Ok(())
}

/// Calls the webhooks of a phase, and adds their warnings to the response. Returns the object after them; `None` if
/// there are none. Subresources with other kinds than the object call no webhooks.
async fn call(
    state: &ControlledState,
    request: &ResourceRequest,
    phase: Phase,
    attributes: impl FnOnce() -> Attributes,
    object: Option<&Object>,
) -> Result<Option<Object>> {
    let is_other = matches!(request.endpoint, Endpoint::Pod(_) | Endpoint::Token | Endpoint::Scale(_));
    let Some(webhooks) = request.webhooks.as_ref().filter(|_| !is_other) else { return Ok(None) };
    let attributes = attributes();
    let hooks = hook::matching(&state.lock(), phase, &attributes)?;
    if hooks.is_empty() {
        return Ok(None);
    }
    let Outcome { result, warnings } = Call { hooks, attributes, object }.run(phase, &*webhooks.call).await;
    request.warnings.lock().extend(warnings);
    result
}
