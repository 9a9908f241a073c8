//! The verb `list`: complete lists and pages, at the current or an earlier version.

mod token;

use crate::{
    api::{
        error::{ApiError, FieldError, Result, TooLargeResourceVersion},
        object::Stored,
    },
    controllers::controlled_state::ControlledState,
    handlers::{get, request::ResourceRequest},
    resource::selector::Selector,
    storage::{state::State, store::Range},
};

use token::Token;

/// A list, or a page of one.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) items: Vec<Stored>,
    pub(crate) version: u64,
    /// The continue token of the next page, if there may be one.
    pub(crate) next: Option<String>,
    /// The number of objects after this page; unknown with a selector.
    pub(crate) remaining: Option<usize>,
}

/// The version of the objects of a list.
enum ListVersion {
    Latest,
    Exact(u64),
}

/// Handles a list request.
pub(crate) async fn list(state: &ControlledState, request: &ResourceRequest) -> Result<Page> {
    check_options(request)?;
    request.query.integer("timeoutSeconds")?;
    let limit = limit(request)?;
    let selector = Selector::from_query(&request.query, &request.kind, request.kind.strategy)?;
    let token = request.query.get("continue").map(Token::decode).transpose().map_err(invalid_token)?;
    let requested = get::version(request).map_err(invalid_version)?;
    let at = match &token {
        Some(_) if requested.is_some_and(|version| version > 0) => {
            return Err(ApiError::bad_request("specifying resource version is not allowed when using continue"));
        }
        Some(token) => token.version.map_or(ListVersion::Latest, ListVersion::Exact),
        None => requested_version(request, requested, limit),
    };
    let resource = request.kind.storage_key();
    let (objects, version) = {
        let state = state.lock();
        let version = resolve_version(&state, &at, requested, token.as_ref())?;
        let from = token.map(|token| token.key(request)).unwrap_or_default();
        let range = Range { from: &from, ..Range::new(&resource, request.namespace.as_deref()) };
        (state.store.list_at(range, version), version)
    };
    // Version 0 allows a list from the cache, which has no pages.
    let limit = limit.filter(|_| requested != Some(0));
    page(request, objects, version, limit, &selector).await
}

fn requested_version(request: &ResourceRequest, requested: Option<u64>, limit: Option<usize>) -> ListVersion {
    match (request.query.get("resourceVersionMatch"), requested) {
        (Some("Exact"), Some(version)) => ListVersion::Exact(version),
        // The default for pages without `resourceVersionMatch`.
        (None, Some(version)) if version > 0 && limit.is_some() => ListVersion::Exact(version),
        _ => ListVersion::Latest,
    }
}

/// Returns the version to list. It must neither be expired nor larger than the current one.
fn resolve_version(state: &State, at: &ListVersion, requested: Option<u64>, token: Option<&Token>) -> Result<u64> {
    let current = state.store.version();
    let minimum = match at {
        ListVersion::Latest => requested.unwrap_or(0),
        ListVersion::Exact(version) => *version,
    };
    if minimum > current {
        return Err(ApiError::TooLargeResourceVersion(TooLargeResourceVersion {
            requested: minimum,
            current,
            is_watch: false,
        }));
    }
    match (at, token) {
        (ListVersion::Latest, _) => Ok(current),
        (ListVersion::Exact(version), _) if *version >= state.store.oldest() => Ok(*version),
        (ListVersion::Exact(_), Some(token)) => Err(ApiError::expired_page(token.inconsistent())),
        (ListVersion::Exact(_), None) => {
            Err(ApiError::expired("The resourceVersion for the provided list is too old."))
        }
    }
}

/// Returns a page of the selected objects. It has a continue token if objects remain, even if none of them is selected.
async fn page(
    request: &ResourceRequest,
    objects: Vec<Stored>,
    version: u64,
    limit: Option<usize>,
    selector: &Selector,
) -> Result<Page> {
    let total = objects.len();
    let mut items = Vec::new();
    // A page without selector ends at its limit; with one, all objects are converted at once.
    let converted = limit.filter(|_| selector.is_empty()).map_or(total, |limit| limit.min(total));
    request.kind.convert_all(&objects[..converted]).await;
    for (index, stored) in objects.iter().enumerate() {
        let object = request.kind.read(stored)?;
        if selector.matches(&object) {
            items.push(object);
        }
        if let Some(last) = items.last().filter(|_| limit == Some(items.len()) && index + 1 < total) {
            let next = Some(Token::after(request, last, version).encode());
            let remaining = selector.is_empty().then_some(total - items.len());
            return Ok(Page { items, version, next, remaining });
        }
    }
    Ok(Page { items, version, next: None, remaining: None })
}

/// Returns the maximum number of objects of a page, or `None` for a complete list.
fn limit(request: &ResourceRequest) -> Result<Option<usize>> {
    let limit = request.query.integer("limit")?.unwrap_or(0);
    Ok(usize::try_from(limit).ok().filter(|limit| *limit > 0))
}

fn check_options(request: &ResourceRequest) -> Result<()> {
    const FIELD: &str = "resourceVersionMatch";
    let mut errors = Vec::new();
    let mut forbid = |field: &str, detail: &str| errors.push(FieldError::forbidden(field, detail));
    let matching = request.query.get(FIELD);
    if matching.is_some() && request.query.get("resourceVersion").is_none() {
        forbid(FIELD, "resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    if matching.is_some() && request.query.get("continue").is_some() {
        forbid(FIELD, "resourceVersionMatch is forbidden when continue is provided");
    }
    if matching == Some("Exact") && request.query.get("resourceVersion") == Some("0") {
        forbid(FIELD, "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    }
    if request.query.has("sendInitialEvents") {
        forbid("sendInitialEvents", "sendInitialEvents is forbidden for list");
    }
    if let Some(other) = matching.filter(|matching| !matches!(*matching, "Exact" | "NotOlderThan")) {
        let supported = ["Exact", "NotOlderThan", ""].map(str::to_owned);
        errors.push(FieldError::unsupported(FIELD, format!("{other:?}"), &supported));
    }
    get::reject_invalid(&errors)
}

fn invalid_token(detail: String) -> ApiError {
    ApiError::bad_request(format!("invalid continue token: {detail}"))
}

fn invalid_version(detail: String) -> ApiError {
    ApiError::bad_request(format!("invalid resource version: {detail}"))
}
