//! Documents: answers that clients keep and ask for again by their ETag.

use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Response, StatusCode,
    header::{CACHE_CONTROL, ETAG, EXPIRES, IF_NONE_MATCH, LOCATION, VARY},
    request::Parts,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::response::api_response::{ApiResponse, Body, response, whole};

/// How long a document stays good that is asked for by its hash: a year.
const LASTS: SignedDuration = SignedDuration::from_hours(365 * 24);

/// A text that changes seldom. A clone has the same text.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    content_type: &'static str,
    text: Bytes,
    hash: String,
}

impl Document {
    pub(crate) fn json(value: &Value) -> Self {
        Self::new("application/json", value.to_string().into())
    }

    pub(crate) fn new(content_type: &'static str, text: Bytes) -> Self {
        Self { content_type, hash: hash(&text), text }
    }

    /// Returns the hash of the text, which is the same in every process.
    pub(crate) fn hash(&self) -> &str {
        &self.hash
    }

    /// The answer to a request, which may say that it has the document. Clients may keep it as long as this says.
    pub(crate) fn answer(self, parts: &Parts, caching: Caching) -> ApiResponse {
        let known = parts.headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let is_known = known.split(',').any(|known| known.trim().trim_start_matches("W/") == self.etag());
        ApiResponse::Document(Box::new(Sent {
            what: if is_known { What::Known } else { What::Whole },
            caching,
            document: self,
        }))
    }

    /// Returns the redirect for a request with an outdated hash.
    pub(crate) fn moved(self, to: String) -> ApiResponse {
        ApiResponse::Document(Box::new(Sent { what: What::MovedTo(to), caching: Caching::AskAgain, document: self }))
    }

    fn etag(&self) -> String {
        format!("\"{}\"", self.hash)
    }
}

/// How long clients may keep a document without asking whether it has changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Caching {
    /// As they think best.
    Public,
    AskAgain,
    /// As long as they like: under this address it never changes.
    Forever,
}

/// A document on its way.
#[derive(Debug)]
pub(crate) struct Sent {
    what: What,
    caching: Caching,
    document: Document,
}

#[derive(Debug)]
enum What {
    Whole,
    /// The client has it already.
    Known,
    MovedTo(String),
}

impl Sent {
    pub(crate) fn into_response(self) -> Response<Body> {
        let Document { content_type, text, .. } = self.document.clone();
        let mut response = match self.what {
            What::Whole => response(StatusCode::OK, content_type, whole(text)),
            What::Known => response(StatusCode::NOT_MODIFIED, content_type, Body::default()),
            What::MovedTo(_) => response(StatusCode::MOVED_PERMANENTLY, content_type, Body::default()),
        };
        let headers = response.headers_mut();
        put(headers, ETAG, &self.document.etag());
        put(headers, VARY, "Accept");
        put(headers, CACHE_CONTROL, self.caching.header());
        if self.caching == Caching::Forever {
            put(headers, EXPIRES, &(Timestamp::now() + LASTS).strftime("%a, %d %b %Y %H:%M:%S GMT").to_string());
        }
        if let What::MovedTo(place) = &self.what {
            put(headers, LOCATION, place);
        }
        response
    }
}

impl Caching {
    fn header(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::AskAgain => "no-cache, private",
            Self::Forever => "public, immutable",
        }
    }
}

/// What a header cannot hold is left out.
fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

fn hash(text: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:016X}", hasher.finish())
}
