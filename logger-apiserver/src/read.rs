//! Get and list, and how both are told which version is meant

use crate::{
    call::{Call, State},
    object::Stored,
    selector::Selector,
    status::{FieldError, Refusal, Result},
};

/// One object.
pub(crate) fn get(state: &State, call: &Call) -> Result<Stored> {
    state.existing(call)
}

/// The objects of a kind as they are now; `limit` is not honoured, which a server may do.
pub(crate) fn list(state: &State, call: &Call) -> Result<Vec<Stored>> {
    check_list_version(state, call)?;
    let selector = Selector::from_query(&call.query, &call.kind)?;
    let mut objects = state.store.list(&call.kind.resource(), call.namespace.as_deref());
    objects.retain(|object| selector.matches(object));
    Ok(objects)
}

/// Only the present can be listed: an exact older version is gone, a newer one not there yet.
fn check_list_version(state: &State, call: &Call) -> Result<()> {
    let exact = call.query.get("resourceVersionMatch");
    let mut errors = Vec::new();
    if exact.is_some() && call.query.get("resourceVersion").is_none() {
        let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
        errors.push(FieldError::forbidden("resourceVersionMatch", why));
    }
    if call.query.flag("sendInitialEvents") {
        errors.push(FieldError::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
    }
    refuse_options(&errors)?;
    let unreadable = |why: String| Refusal::bad_request(format!("invalid resource version: {why}"));
    let Some(version) = version(call).map_err(unreadable)? else {
        return Ok(());
    };
    let current = state.store.version();
    if version > current {
        return Err(Refusal::too_large(version, current));
    }
    if exact == Some("Exact") && version < current {
        return Err(Refusal::expired("The provided resource version is too old: only the latest is kept for lists"));
    }
    Ok(())
}

/// Refuses list options that break rules.
pub(crate) fn refuse_options(errors: &[FieldError]) -> Result<()> {
    if errors.is_empty() { Ok(()) } else { Err(Refusal::invalid_of("ListOptions", "meta.k8s.io", "", errors)) }
}

/// The `resourceVersion` of the query, or why it is none.
pub(crate) fn version(call: &Call) -> Result<Option<u64>, String> {
    let parse = |text: &str| {
        text.parse().map_err(|_| {
            format!("resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax")
        })
    };
    call.query.get("resourceVersion").map(parse).transpose()
}
