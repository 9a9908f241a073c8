//! Health checks: `/healthz`, `/livez`, `/readyz` and their single checks.

use http::StatusCode;

use crate::{
    api::error::{ApiError, Result},
    response::api_response::ApiResponse,
    storage::state::State,
    wire::request::Query,
};

/// The name of a check, and the function that returns whether it passes.
type Check = (&'static str, fn(&State) -> bool);

const CHECKS: [Check; 2] = [("ping", |_| true), ("storage", |state| state.failure.is_none())];

/// The endpoints of the checks.
pub(crate) const ENDPOINTS: [&str; 3] = ["healthz", "livez", "readyz"];

/// Returns the names of the checks.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().map(|(name, _)| *name)
}

/// Runs one check or all checks of an endpoint. Excluded checks do not fail the endpoint; excluding an unknown check
/// adds a warning.
pub(crate) fn respond(state: &State, endpoint: &str, check: Option<&str>, query: &Query) -> Result<ApiResponse> {
    if let Some(name) = check {
        let (_, is_healthy) = CHECKS.iter().find(|(check, _)| *check == name).ok_or(ApiError::PageNotFound)?;
        let (code, text) = if is_healthy(state) {
            (StatusCode::OK, "ok".to_owned())
        } else {
            (StatusCode::INTERNAL_SERVER_ERROR, format!("internal server error: {name} failed\n"))
        };
        return Ok(ApiResponse::Text(code, text.into()));
    }
    let excluded = query.all("exclude");
    let is_excluded = |name: &str| excluded.iter().any(|excluded| excluded == name);
    let is_healthy = CHECKS.iter().all(|(name, is_healthy)| is_excluded(name) || is_healthy(state));
    if is_healthy && !query.has("verbose") {
        return Ok(ApiResponse::Text(StatusCode::OK, "ok".into()));
    }
    let mut text = String::new();
    for (name, is_healthy) in &CHECKS {
        text += &match (is_excluded(name), is_healthy(state)) {
            (true, _) => format!("[+]{name} excluded: ok\n"),
            (false, true) => format!("[+]{name} ok\n"),
            (false, false) => format!("[-]{name} failed: reason withheld\n"),
        };
    }
    let is_unknown = |name: &&String| CHECKS.iter().all(|(check, _)| check != name);
    let unknown: Vec<String> = excluded.iter().filter(is_unknown).map(|name| format!("{name:?}")).collect();
    if !unknown.is_empty() {
        text += &format!("warn: some health checks cannot be excluded: no matches for {}\n", unknown.join(","));
    }
    text += &format!("{endpoint} check {}\n", if is_healthy { "passed" } else { "failed" });
    Ok(ApiResponse::Text(if is_healthy { StatusCode::OK } else { StatusCode::INTERNAL_SERVER_ERROR }, text.into()))
}
