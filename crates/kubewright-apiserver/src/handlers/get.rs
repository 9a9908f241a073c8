//! The verb `get`, and the options for resource versions that reads share.

use crate::{
    api::{
        error::{ApiError, FieldError, Result, TooLargeResourceVersion},
        object::Stored,
    },
    controllers::controlled_state::ControlledState,
    handlers::request::ResourceRequest,
    storage::state::State,
};

/// Returns an object that is not older than the requested version.
pub(crate) async fn get(state: &ControlledState, request: &ResourceRequest) -> Result<Stored> {
    let requested = version(request).map_err(ApiError::internal)?.unwrap_or(0);
    let found = find(&state.lock(), request, requested)?;
    request.kind.read_now(&found).await
}

/// Returns the stored object, if it is as new as requested.
fn find(state: &State, request: &ResourceRequest, requested: u64) -> Result<Stored> {
    let current = state.store.version();
    if requested > current {
        return Err(ApiError::TooLargeResourceVersion(TooLargeResourceVersion { requested, current, is_watch: false }));
    }
    request.stored(state).ok_or_else(|| ApiError::not_found(&request.kind, request.name()))
}

/// Rejects invalid list options.
pub(crate) fn reject_invalid(errors: &[FieldError]) -> Result<()> {
    if errors.is_empty() { Ok(()) } else { Err(ApiError::invalid_of("ListOptions", "meta.k8s.io", "", errors)) }
}

/// Returns the `resourceVersion` of the query, or the error for an invalid one.
pub(crate) fn version(request: &ResourceRequest) -> Result<Option<u64>, String> {
    let parse = |text: &str| {
        text.parse().map_err(|_| {
            format!("resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax")
        })
    };
    request.query.get("resourceVersion").map(parse).transpose()
}
