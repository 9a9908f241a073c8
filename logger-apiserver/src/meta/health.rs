//! Health: `/healthz`, `/livez`, `/readyz` and the checks below them.

use http::StatusCode;

use crate::{
    api::error::{ApiError, Result},
    response::api_response::ApiResponse,
    storage::state::State,
    wire::request::Query,
};

/// What is checked, and whether it is well.
type Check = (&'static str, fn(&State) -> bool);

const CHECKS: [Check; 2] = [("ping", |_| true), ("storage", |state| state.failure.is_none())];

/// Where the checks are.
pub(crate) const ENDPOINTS: [&str; 3] = ["healthz", "livez", "readyz"];

/// The names of the checks.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().map(|(name, _)| *name)
}

/// Answers for all checks of an endpoint, or for one. A check that is excluded is not looked at; to exclude what is no check is
/// warned of.
pub(crate) fn answer(state: &State, endpoint: &str, check: Option<&str>, query: &Query) -> Result<ApiResponse> {
    if let Some(name) = check {
        let (_, is_well) = CHECKS.iter().find(|(known, _)| *known == name).ok_or(ApiError::PageNotFound)?;
        let (code, text) = if is_well(state) {
            (StatusCode::OK, "ok".to_owned())
        } else {
            (StatusCode::INTERNAL_SERVER_ERROR, format!("internal server error: {name} failed\n"))
        };
        return Ok(ApiResponse::Text(code, text.into()));
    }
    let excluded = query.all("exclude");
    let is_excluded = |name: &str| excluded.iter().any(|excluded| excluded == name);
    let is_well = CHECKS.iter().all(|(name, is_well)| is_excluded(name) || is_well(state));
    if is_well && !query.has("verbose") {
        return Ok(ApiResponse::Text(StatusCode::OK, "ok".into()));
    }
    let mut text = String::new();
    for (name, is_well) in &CHECKS {
        text += &match (is_excluded(name), is_well(state)) {
            (true, _) => format!("[+]{name} excluded: ok\n"),
            (false, true) => format!("[+]{name} ok\n"),
            (false, false) => format!("[-]{name} failed: reason withheld\n"),
        };
    }
    let is_unknown = |name: &&String| CHECKS.iter().all(|(known, _)| known != name);
    let unknown: Vec<String> = excluded.iter().filter(is_unknown).map(|name| format!("{name:?}")).collect();
    if !unknown.is_empty() {
        text += &format!("warn: some health checks cannot be excluded: no matches for {}\n", unknown.join(","));
    }
    text += &format!("{endpoint} check {}\n", if is_well { "passed" } else { "failed" });
    Ok(ApiResponse::Text(if is_well { StatusCode::OK } else { StatusCode::INTERNAL_SERVER_ERROR }, text.into()))
}
