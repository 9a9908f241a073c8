//! Lists: which version of which objects, whole or in pages.

mod token;

use crate::{
    api::{
        error::{ApiError, FieldError, Result, TooLargeResourceVersion},
        object::Stored,
    },
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
    /// What to ask for the next page with, if there may be one.
    pub(crate) next: Option<String>,
    /// How many objects come after this page; unknown where a selector chooses.
    pub(crate) remaining: Option<usize>,
}

/// Which state of the objects a list is of.
enum At {
    /// The present, whatever its version.
    Latest,
    Exactly(u64),
}

/// Answers a list request.
pub(crate) fn list(state: &State, request: &ResourceRequest) -> Result<Page> {
    check_options(request)?;
    request.query.integer("timeoutSeconds")?;
    let limit = limit(request)?;
    let selector = Selector::from_query(&request.query, &request.kind)?;
    let token = request.query.get("continue").map(Token::decode).transpose().map_err(refuse_token)?;
    let asked = get::version(request).map_err(unreadable)?;
    let at = match &token {
        Some(_) if asked.is_some_and(|version| version > 0) => {
            return Err(ApiError::bad_request("specifying resource version is not allowed when using continue"));
        }
        Some(token) => token.version.map_or(At::Latest, At::Exactly),
        None => state_of(request, asked, limit),
    };
    let version = known_version(state, &at, asked, token.as_ref())?;
    let from = token.map(|token| token.key(request)).unwrap_or_default();
    let resource = request.kind.storage_key();
    let range = Range { from: &from, ..Range::of(&resource, request.namespace.as_deref()) };
    // From a cache, as version 0 allows, come no pages.
    let limit = limit.filter(|_| asked != Some(0));
    page(request, state.store.list_at(range, version), version, limit, &selector)
}

fn state_of(request: &ResourceRequest, asked: Option<u64>, limit: Option<usize>) -> At {
    match (request.query.get("resourceVersionMatch"), asked) {
        (Some("Exact"), Some(version)) => At::Exactly(version),
        // What pages meant before there was a match.
        (None, Some(version)) if version > 0 && limit.is_some() => At::Exactly(version),
        _ => At::Latest,
    }
}

/// The version to list, unless it is gone or not there yet.
fn known_version(state: &State, at: &At, asked: Option<u64>, token: Option<&Token>) -> Result<u64> {
    let current = state.store.version();
    let least = match at {
        At::Latest => asked.unwrap_or(0),
        At::Exactly(version) => *version,
    };
    if least > current {
        return Err(ApiError::TooLargeResourceVersion(TooLargeResourceVersion {
            asked: least,
            current,
            is_watch: false,
        }));
    }
    match (at, token) {
        (At::Latest, _) => Ok(current),
        (At::Exactly(version), _) if *version >= state.store.oldest() => Ok(*version),
        (At::Exactly(_), Some(token)) => Err(ApiError::expired_page(token.in_the_present())),
        (At::Exactly(_), None) => Err(ApiError::expired("The resourceVersion for the provided list is too old.")),
    }
}

/// As many of the objects as are selected and fit a page. That there is another page is said as soon as objects are left, though
/// none of them may be selected.
fn page(
    request: &ResourceRequest,
    objects: Vec<Stored>,
    version: u64,
    limit: Option<usize>,
    selector: &Selector,
) -> Result<Page> {
    let total = objects.len();
    let mut items = Vec::new();
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

/// The most objects of a page; none, if there are to be no pages.
fn limit(request: &ResourceRequest) -> Result<Option<usize>> {
    let limit = request.query.integer("limit")?.unwrap_or(0);
    Ok(usize::try_from(limit).ok().filter(|limit| *limit > 0))
}

fn check_options(request: &ResourceRequest) -> Result<()> {
    const FIELD: &str = "resourceVersionMatch";
    let mut errors = Vec::new();
    let mut forbid = |field: &str, why: &str| errors.push(FieldError::forbidden(field, why));
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
        let known = ["Exact", "NotOlderThan", ""].map(str::to_owned);
        errors.push(FieldError::unsupported(FIELD, format!("{other:?}"), &known));
    }
    get::refuse_options(&errors)
}

fn refuse_token(why: String) -> ApiError {
    ApiError::bad_request(format!("invalid continue token: {why}"))
}

fn unreadable(why: String) -> ApiError {
    ApiError::bad_request(format!("invalid resource version: {why}"))
}
