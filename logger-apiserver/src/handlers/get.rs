//! The verb `get`, and the options of reads that concern resource versions.

use crate::{
    api::{
        error::{ApiError, FieldError, Result, TooLargeResourceVersion},
        object::Stored,
    },
    handlers::request::ResourceRequest,
    storage::state::State,
};

/// One object, no older than the version that is asked for.
pub(crate) fn get(state: &State, request: &ResourceRequest) -> Result<Stored> {
    let asked = version(request).map_err(ApiError::internal)?.unwrap_or(0);
    let current = state.store.version();
    if asked > current {
        return Err(ApiError::TooLargeResourceVersion(TooLargeResourceVersion { asked, current, is_watch: false }));
    }
    request.existing(state)
}

/// Rejects invalid list options.
pub(crate) fn refuse_options(errors: &[FieldError]) -> Result<()> {
    if errors.is_empty() { Ok(()) } else { Err(ApiError::invalid_of("ListOptions", "meta.k8s.io", "", errors)) }
}

/// The `resourceVersion` of the query, or why it is none.
pub(crate) fn version(request: &ResourceRequest) -> Result<Option<u64>, String> {
    let parse = |text: &str| {
        text.parse().map_err(|_| {
            format!("resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax")
        })
    };
    request.query.get("resourceVersion").map(parse).transpose()
}
