//! Responses, and why requests fail.

use std::time::Duration;

use bytes::Bytes;
use http::{
    HeaderValue, Response, StatusCode,
    header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS},
};
use http_body_util::Full;
use kubewright_http::BodyError;

use crate::{
    journal::{AppendError, Receipt},
    metrics::Rejected,
    sources::SourceError,
};

/// After how many seconds a client retries a request that found the queue full, or that could not be written.
const RETRY_SECONDS: u64 = 1;

/// A response with a complete body.
pub(super) type FullResponse = Response<Full<Bytes>>;

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("not found")]
    NotFound,
    #[error("method not allowed; use {0}")]
    Method(&'static str),
    #[error("missing or unknown bearer token")]
    Unauthorized,
    #[error("requests of web pages are not accepted")]
    WebPage,
    #[error("unsupported content type; use `application/json`")]
    ContentType,
    #[error("the body exceeds {0} bytes")]
    TooLarge(usize),
    #[error("the body is incomplete")]
    Incomplete,
    #[error("the body was not received within {0:?}")]
    Timeout(Duration),
    #[error("too many connections; retry later")]
    Connections,
    #[error("the bodies of this address exceed {0} bytes; retry later")]
    PeerBytes(usize),
    #[error("too many records or bytes per second; retry later")]
    RateLimited(Duration),
    #[error(transparent)]
    Invalid(#[from] SourceError),
    #[error(transparent)]
    Append(#[from] AppendError),
}

impl From<BodyError> for Failure {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge(limit) => Failure::TooLarge(limit),
            BodyError::Timeout(limit) => Failure::Timeout(limit),
            BodyError::Incomplete(_) => Failure::Incomplete,
        }
    }
}

impl Failure {
    /// Returns the reason in the metrics; `None` for requests that are not counted.
    pub(super) fn rejected(&self) -> Option<Rejected> {
        match self {
            Failure::TooLarge(_) => Some(Rejected::TooLarge),
            Failure::RateLimited(_) => Some(Rejected::RateLimited),
            Failure::Invalid(_) | Failure::Incomplete | Failure::Timeout(_) => Some(Rejected::Invalid),
            Failure::PeerBytes(_) | Failure::Append(AppendError::Full) => Some(Rejected::QueueFull),
            Failure::Unauthorized => Some(Rejected::Unauthorized),
            Failure::WebPage | Failure::ContentType => Some(Rejected::Invalid),
            Failure::NotFound | Failure::Method(_) | Failure::Connections | Failure::Append(_) => None,
        }
    }

    pub(super) fn into_response(self) -> FullResponse {
        let status = match &self {
            Failure::NotFound => StatusCode::NOT_FOUND,
            Failure::Method(_) => StatusCode::METHOD_NOT_ALLOWED,
            Failure::Unauthorized => StatusCode::UNAUTHORIZED,
            Failure::WebPage => StatusCode::FORBIDDEN,
            Failure::ContentType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Failure::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Failure::Incomplete | Failure::Invalid(_) => StatusCode::BAD_REQUEST,
            Failure::Timeout(_) => StatusCode::REQUEST_TIMEOUT,
            Failure::RateLimited(_) => StatusCode::TOO_MANY_REQUESTS,
            Failure::Connections | Failure::PeerBytes(_) | Failure::Append(_) => StatusCode::SERVICE_UNAVAILABLE,
        };
        let mut response = text(status, format!("{self}\n"));
        let headers = response.headers_mut();
        match self {
            Failure::Method(method) => {
                headers.insert(ALLOW, HeaderValue::from_static(method));
            }
            Failure::RateLimited(pause) => {
                let seconds = pause.as_secs() + u64::from(pause.subsec_nanos() > 0);
                headers.insert(RETRY_AFTER, seconds.max(RETRY_SECONDS).into());
            }
            Failure::Connections | Failure::PeerBytes(_) | Failure::Append(_) => {
                headers.insert(RETRY_AFTER, RETRY_SECONDS.into());
            }
            Failure::Unauthorized => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            _ => {}
        }
        response
    }
}

/// Returns a text.
pub(super) fn text(status: StatusCode, body: impl Into<Bytes>) -> FullResponse {
    with_type(status, "text/plain; charset=utf-8", body)
}

/// Returns a body of this type.
pub(super) fn with_type(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> FullResponse {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    // Browsers must not interpret responses as another type.
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Returns a receipt as JSON.
pub(super) fn receipt(status: StatusCode, receipt: &Receipt) -> FullResponse {
    match serde_json::to_vec(receipt) {
        Ok(body) => with_type(status, "application/json", body),
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
    }
}
