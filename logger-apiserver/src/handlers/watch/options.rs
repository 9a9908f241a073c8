//! What the query of a watch asks for.

use std::time::Duration;

use uuid::Uuid;

use crate::{
    api::error::{ApiError, FieldError, Result, TooLargeResourceVersion},
    handlers::{get, request::ResourceRequest},
    storage::state::State,
};

/// A watch that does not say how long it wants to last gets this long, and up to as much again.
const LEAST_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// How a watch begins and ends.
#[derive(Debug, PartialEq)]
pub(super) struct Options {
    pub(super) start: Start,
    pub(super) bookmarks: bool,
    /// It ends by itself after this long.
    pub(super) timeout: Duration,
}

/// What a watch sends first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Start {
    /// All there is, then, with `marked`, a bookmark that says so.
    Everything { marked: bool },
    /// What happens from now on.
    Now,
    /// What happened after a version.
    After(u64),
}

impl Options {
    /// Decodes and validates the options.
    pub(super) fn read(state: &State, request: &ResourceRequest) -> Result<Self> {
        let send_initial = send_initial(state, request);
        check(state, request, send_initial)?;
        let asked = get::version(request).map_err(ApiError::internal)?.unwrap_or(0);
        let bookmarks = request.query.flag("allowWatchBookmarks");
        let current = state.store.version();
        let start = match send_initial {
            Some(true) if asked > current => {
                return Err(ApiError::TooLargeResourceVersion(TooLargeResourceVersion {
                    asked,
                    current,
                    is_watch: true,
                }));
            }
            Some(true) => Start::Everything { marked: bookmarks },
            None if asked == 0 => Start::Everything { marked: false },
            Some(false) if asked == 0 => Start::Now,
            Some(false) | None => Start::After(asked),
        };
        Ok(Self { start, bookmarks, timeout: timeout(request)? })
    }
}

/// Whether to begin with what is there, if that is said. Watches from no version always began so, and count as asking for it.
fn send_initial(state: &State, request: &ResourceRequest) -> Option<bool> {
    const NAME: &str = "sendInitialEvents";
    if request.query.has(NAME) {
        return Some(request.query.flag(NAME));
    }
    let from_no_version = matches!(request.query.get("resourceVersion"), None | Some("0"));
    (state.watch_list && from_no_version && request.query.get("resourceVersionMatch").is_none()).then_some(true)
}

fn check(state: &State, request: &ResourceRequest, send_initial: Option<bool>) -> Result<()> {
    const MATCH: &str = "resourceVersionMatch";
    const NOT_OLDER_THAN: &str = "NotOlderThan";
    let said = request.query.has("sendInitialEvents");
    let matching = request.query.get(MATCH).or(send_initial.filter(|_| !said).map(|_| NOT_OLDER_THAN));
    let mut errors = Vec::new();
    let mut forbid = |field: &str, why: &str| errors.push(FieldError::forbidden(field, why));
    if said && matching != Some(NOT_OLDER_THAN) {
        forbid(MATCH, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    }
    if said && !state.watch_list {
        let why = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
        forbid("sendInitialEvents", why);
    }
    if matching.is_some() && send_initial.is_none() {
        forbid(MATCH, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    }
    if let Some(other) = matching.filter(|matching| *matching != NOT_OLDER_THAN) {
        errors.push(FieldError::unsupported(MATCH, format!("{other:?}"), &[NOT_OLDER_THAN.to_owned()]));
    }
    if matching.is_some() && request.query.get("continue").is_some() {
        errors.push(FieldError::forbidden(MATCH, "resourceVersionMatch is forbidden when continue is provided"));
    }
    get::refuse_options(&errors)
}

/// `timeoutSeconds`, of which a negative one is over at once.
fn timeout(request: &ResourceRequest) -> Result<Duration> {
    Ok(match request.query.integer("timeoutSeconds")?.unwrap_or(0) {
        0 => LEAST_TIMEOUT + LEAST_TIMEOUT.mul_f64(fraction()),
        seconds => Duration::from_secs(u64::try_from(seconds).unwrap_or(0)),
    })
}

/// Anything from 0 to 1, so that watches that began together do not end together.
fn fraction() -> f64 {
    // The first bytes of a version 4 uuid are all random.
    let [first, second, ..] = Uuid::new_v4().into_bytes();
    f64::from(u16::from_be_bytes([first, second])) / f64::from(u16::MAX)
}
