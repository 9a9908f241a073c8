//! Documents: responses that clients cache and revalidate by their ETag.

use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Response, StatusCode,
    header::{CACHE_CONTROL, ETAG, EXPIRES, IF_NONE_MATCH, LOCATION, VARY},
    request::Parts,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::response::body::{Body, full, response};

/// The lifetime of a document that is requested by its hash.
const IMMUTABLE_LIFETIME: SignedDuration = SignedDuration::from_hours(365 * 24);

/// A text that changes rarely. A clone shares the text.
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

    /// Returns the response to a request: the document, or 304 if the client has it already.
    pub(crate) fn respond(self, parts: &Parts, caching: Caching) -> DocumentResponse {
        let etags = parts.headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let is_cached = etags.split(',').any(|etag| etag.trim().trim_start_matches("W/") == self.etag());
        DocumentResponse {
            payload: if is_cached { Payload::NotModified } else { Payload::Full },
            caching,
            document: self,
        }
    }

    /// Returns the redirect for a request with an outdated hash.
    pub(crate) fn redirect(self, to: String) -> DocumentResponse {
        DocumentResponse { payload: Payload::Redirect(to), caching: Caching::NoCache, document: self }
    }

    fn etag(&self) -> String {
        format!("\"{}\"", self.hash)
    }
}

/// How clients may cache a document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Caching {
    /// Clients choose how long.
    Public,
    /// Clients revalidate it for every use.
    NoCache,
    /// Indefinitely: the content at this URL never changes.
    Immutable,
}

/// The response to a request for a document.
#[derive(Debug)]
pub(crate) struct DocumentResponse {
    payload: Payload,
    caching: Caching,
    document: Document,
}

#[derive(Debug)]
enum Payload {
    Full,
    /// The client has the current document.
    NotModified,
    /// The URL of the current document.
    Redirect(String),
}

impl DocumentResponse {
    pub(crate) fn into_response(self) -> Response<Body> {
        let Document { content_type, text, .. } = self.document.clone();
        let mut response = match self.payload {
            Payload::Full => response(StatusCode::OK, content_type, full(text)),
            Payload::NotModified => response(StatusCode::NOT_MODIFIED, content_type, Body::default()),
            Payload::Redirect(_) => response(StatusCode::MOVED_PERMANENTLY, content_type, Body::default()),
        };
        let headers = response.headers_mut();
        put(headers, ETAG, &self.document.etag());
        put(headers, VARY, "Accept");
        put(headers, CACHE_CONTROL, self.caching.header());
        if self.caching == Caching::Immutable {
            put(
                headers,
                EXPIRES,
                &(Timestamp::now() + IMMUTABLE_LIFETIME).strftime("%a, %d %b %Y %H:%M:%S GMT").to_string(),
            );
        }
        if let Payload::Redirect(url) = &self.payload {
            put(headers, LOCATION, url);
        }
        response
    }
}

impl Caching {
    fn header(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::NoCache => "no-cache, private",
            Self::Immutable => "public, immutable",
        }
    }
}

/// Inserts a header. An invalid value is omitted.
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
