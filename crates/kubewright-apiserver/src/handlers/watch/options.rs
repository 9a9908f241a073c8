//! The options of watches.

use std::time::Duration;

use uuid::Uuid;

use crate::{
    api::error::{ApiError, FieldError, Result, TooLargeResourceVersion},
    handlers::{get, request::ResourceRequest},
    storage::state::State,
};

/// The minimum timeout of a watch without `timeoutSeconds`. The maximum is twice as long.
const MIN_REQUEST_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// The options of a watch.
#[derive(Debug, PartialEq)]
pub(super) struct Options {
    pub(super) start: Start,
    pub(super) bookmarks: bool,
    /// The time after which the server ends the watch.
    pub(super) timeout: Duration,
}

/// The first events of a watch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Start {
    /// All existing objects, and with `with_bookmark` a bookmark after them.
    Everything { with_bookmark: bool },
    /// Changes after the current version.
    Now,
    /// Changes after this version.
    After(u64),
}

impl Options {
    /// Decodes and validates the options.
    pub(super) fn decode(state: &State, request: &ResourceRequest) -> Result<Self> {
        let send_initial = send_initial(request);
        check(request, send_initial)?;
        let requested = get::version(request).map_err(ApiError::internal)?.unwrap_or(0);
        let bookmarks = request.query.flag("allowWatchBookmarks");
        let current = state.store.version();
        let start = match send_initial {
            Some(true) if requested > current => {
                return Err(ApiError::TooLargeResourceVersion(TooLargeResourceVersion {
                    requested,
                    current,
                    is_watch: true,
                }));
            }
            Some(true) => Start::Everything { with_bookmark: bookmarks },
            None if requested == 0 => Start::Everything { with_bookmark: false },
            Some(false) if requested == 0 => Start::Now,
            Some(false) | None => Start::After(requested),
        };
        Ok(Self { start, bookmarks, timeout: timeout(request)? })
    }
}

/// Returns whether the watch starts with the existing objects, if that is specified. A watch without a version always
/// does, as if it were specified.
fn send_initial(request: &ResourceRequest) -> Option<bool> {
    const NAME: &str = "sendInitialEvents";
    if request.query.has(NAME) {
        return Some(request.query.flag(NAME));
    }
    let from_no_version = matches!(request.query.get("resourceVersion"), None | Some("0"));
    (from_no_version && request.query.get("resourceVersionMatch").is_none()).then_some(true)
}

fn check(request: &ResourceRequest, send_initial: Option<bool>) -> Result<()> {
    const MATCH: &str = "resourceVersionMatch";
    const NOT_OLDER_THAN: &str = "NotOlderThan";
    let is_set = request.query.has("sendInitialEvents");
    let matching = request.query.get(MATCH).or(send_initial.filter(|_| !is_set).map(|_| NOT_OLDER_THAN));
    let mut errors = Vec::new();
    let mut forbid = |field: &str, detail: &str| errors.push(FieldError::forbidden(field, detail));
    if is_set && matching != Some(NOT_OLDER_THAN) {
        forbid(MATCH, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
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
    get::reject_invalid(&errors)
}

/// Returns `timeoutSeconds`. A negative timeout ends the watch immediately.
fn timeout(request: &ResourceRequest) -> Result<Duration> {
    Ok(match request.query.integer("timeoutSeconds")?.unwrap_or(0) {
        0 => MIN_REQUEST_TIMEOUT + MIN_REQUEST_TIMEOUT.mul_f64(random_fraction()),
        seconds => Duration::from_secs(u64::try_from(seconds).unwrap_or(0)),
    })
}

/// Returns a random number from 0 to 1, so that watches that start together do not end together.
fn random_fraction() -> f64 {
    // The first bytes of a version 4 UUID are random.
    let [first, second, ..] = Uuid::new_v4().into_bytes();
    f64::from(u16::from_be_bytes([first, second])) / f64::from(u16::MAX)
}
