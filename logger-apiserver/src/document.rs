//! Documents: answers that clients keep and ask for again by their ETag

use std::hash::{DefaultHasher, Hash, Hasher};

use http::{
    HeaderValue, Response, StatusCode,
    header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH, VARY},
    request::Parts,
};
use serde_json::Value;

use crate::{
    answer::{Answer, Body, response, whole},
    discovery::aggregated,
};

/// A text that changes seldom.
#[derive(Debug)]
pub(crate) struct Document {
    content_type: &'static str,
    text: Vec<u8>,
    etag: String,
    /// The client has it already.
    is_known: bool,
}

impl Document {
    pub(crate) fn json(value: &Value) -> Self {
        Self::new("application/json", value)
    }

    /// Of aggregated discovery.
    pub(crate) fn discovery(value: &Value) -> Self {
        Self::new(aggregated::MEDIA_TYPE, value)
    }

    fn new(content_type: &'static str, value: &Value) -> Self {
        let text = value.to_string();
        Self { content_type, etag: format!("\"{}\"", hash(&text)), text: text.into_bytes(), is_known: false }
    }

    /// The answer to a request, which may say that it has the document.
    pub(crate) fn answer(mut self, parts: &Parts) -> Answer {
        let known = parts.headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok()).unwrap_or_default();
        self.is_known = known.split(',').any(|known| known.trim().trim_start_matches("W/") == self.etag);
        Answer::Document(self)
    }

    pub(crate) fn into_response(self) -> Response<Body> {
        let mut response = if self.is_known {
            response(StatusCode::NOT_MODIFIED, self.content_type, Body::default())
        } else {
            response(StatusCode::OK, self.content_type, whole(self.text))
        };
        let headers = response.headers_mut();
        if let Ok(etag) = HeaderValue::from_str(&self.etag) {
            headers.insert(ETAG, etag);
        }
        headers.insert(VARY, HeaderValue::from_static("Accept"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("public"));
        response
    }
}

/// Tells texts apart; the same text has the same hash in every process.
pub(crate) fn hash(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:016X}", hasher.finish())
}
