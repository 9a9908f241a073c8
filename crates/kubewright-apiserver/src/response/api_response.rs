//! The responses of the server.

use std::{borrow::Cow, collections::BTreeSet, sync::Arc};

use futures::StreamExt;
use http::{
    HeaderValue, Response, StatusCode,
    header::{RETRY_AFTER, WARNING},
};
use http_body_util::{BodyExt, StreamBody};
use k8s_openapi::{api::autoscaling::v1::Scale, apimachinery::pkg::apis::meta::v1::Status};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    api::{
        error::{ApiError, TooLargeResourceVersion},
        object::Stored,
    },
    handlers::{list::Page, request::ResourceRequest, watch::Watch},
    lifecycle::deletion::Deleted,
    response::{
        body::{Body, full, response},
        document::DocumentResponse,
        objects::ObjectResponse,
        table, watch,
    },
    storage::shared::SharedState,
    wire::{
        content::{Content, Encoding},
        negotiation::{self, Representation},
    },
};

/// The number of characters of all warnings of a response from which on each is truncated.
const MAX_WARNINGS_LENGTH: usize = 4 << 10;
/// The number of characters of a truncated warning.
const TRUNCATED_WARNING_LENGTH: usize = 256;

/// The response to a request, before it is encoded.
#[derive(Debug)]
pub(crate) enum ApiResponse {
    Content(StatusCode, Content),
    /// An object or a list, which is not encoded yet.
    Objects(StatusCode, Box<ObjectResponse>),
    /// A value that is encoded as the client accepts it.
    Value(StatusCode, Value),
    /// An error, which may specify when to retry.
    Error(Box<Status>),
    Text(StatusCode, Cow<'static, str>),
    /// A status code without a body.
    Empty(StatusCode),
    /// A document that clients cache and revalidate by its ETag.
    Document(Box<DocumentResponse>),
    Watch(Box<Watch>),
    /// A watch that fails before its first event.
    WatchError(Box<Status>),
    /// A response with warnings.
    WithWarnings(Box<Self>, Vec<String>),
}

impl ApiResponse {
    pub(crate) fn value(value: Value) -> Self {
        Self::Value(StatusCode::OK, value)
    }

    /// Creates the response with an object.
    pub(crate) fn object(code: StatusCode, request: &ResourceRequest, object: &Stored) -> Self {
        let response = ObjectResponse::object(request, object.clone());
        response.map_or_else(Self::from, |response| Self::Objects(code, Box::new(response)))
    }

    /// Creates a `Status` that reports success.
    pub(crate) fn success(code: StatusCode) -> Self {
        let status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": code.as_u16(),
        });
        Self::Value(code, status)
    }

    pub(crate) fn scale(request: &ResourceRequest, scale: &Scale) -> Self {
        let ok = StatusCode::OK;
        match request.representation {
            Representation::MetadataList(_) => negotiation::wrong_shape(&request.kind, false).into(),
            Representation::Object => Self::encoded(ok, request, scale),
            Representation::Metadata(version) => {
                Self::encoded(ok, request, &table::scale::partial_object_metadata(scale, version.api_version()))
            }
            Representation::Table(options) => {
                Self::encoded(ok, request, &table::scale::of_scale(&request.kind, options, scale))
            }
        }
    }

    /// Creates the response with a list.
    pub(crate) fn list(request: &ResourceRequest, page: Page) -> Self {
        let response = ObjectResponse::list(request, page);
        response.map_or_else(Self::from, |response| Self::Objects(StatusCode::OK, Box::new(response)))
    }

    /// Creates the response to a delete: the object while it is terminating, and a success once it is removed.
    pub(crate) fn deleted(request: &ResourceRequest, deleted: &Deleted) -> Self {
        let kind = &request.kind;
        match deleted {
            Deleted::Terminating(object) => Self::object(StatusCode::OK, request, object),
            Deleted::Removed(object) if kind.strategy.returns_deleted_object => {
                Self::object(StatusCode::OK, request, object)
            }
            Deleted::Removed(object) => {
                let mut details = json!({ "name": object.name(), "kind": kind.plural, "uid": object.uid() });
                if !kind.group.is_empty() {
                    details["group"] = json!(kind.group);
                }
                let status = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details });
                Self::encoded(StatusCode::OK, request, &status)
            }
        }
    }

    fn encoded(code: StatusCode, request: &ResourceRequest, value: &impl Serialize) -> Self {
        Self::Content(code, request.encoding.write(value))
    }

    /// Encodes the HTTP response. Responses that are not objects of a resource have the given encoding.
    pub(crate) fn into_response(self, shared: Arc<SharedState>, encoding: Encoding) -> Response<Body> {
        match self {
            Self::Content(code, content) => response(code, content.media_type, full(content.bytes)),
            Self::Objects(code, objects) => Self::Content(code, objects.encode()).into_response(shared, encoding),
            Self::Value(code, value) => Self::Content(code, encoding.write(&value)).into_response(shared, encoding),
            Self::Error(status) => error_response(&status, encoding),
            Self::Text(code, text) => response(code, "text/plain; charset=utf-8", full(text.into_owned())),
            Self::Empty(code) => {
                let mut response = Response::new(Body::default());
                *response.status_mut() = code;
                response
            }
            Self::Document(document) => document.into_response(),
            Self::Watch(watch) => watch_response(*watch, shared),
            Self::WithWarnings(response, warnings) => add_warnings(response.into_response(shared, encoding), &warnings),
            Self::WatchError(status) => {
                response(StatusCode::OK, encoding.stream_media_type(), full(encoding.error_event(&status)))
            }
        }
    }
}

impl From<ApiError> for ApiResponse {
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::PageNotFound => Self::Text(StatusCode::NOT_FOUND, "404 page not found\n".into()),
            ApiError::TooLargeResourceVersion(error) => error.into(),
            ApiError::Status(status) => Self::Error(status),
        }
    }
}

impl From<DocumentResponse> for ApiResponse {
    fn from(response: DocumentResponse) -> Self {
        Self::Document(Box::new(response))
    }
}

impl From<TooLargeResourceVersion> for ApiResponse {
    fn from(error: TooLargeResourceVersion) -> Self {
        if error.is_watch { Self::WatchError(error.into_status()) } else { Self::Error(error.into_status()) }
    }
}

fn watch_response(watch: Watch, shared: Arc<SharedState>) -> Response<Body> {
    let media_type = watch.encoding.stream_media_type();
    let frames = watch::frames(watch, shared).map(|frame| Ok(http_body::Frame::data(frame.into_bytes())));
    response(StatusCode::OK, media_type, StreamBody::new(frames).boxed_unsync())
}

fn add_warnings(mut response: Response<Body>, warnings: &[String]) -> Response<Body> {
    for warning in bounded_warnings(warnings) {
        // Warnings can contain text of clients. One that is not a valid header value is omitted.
        if let Ok(value) = HeaderValue::from_str(&format!("299 - {warning:?}")) {
            response.headers_mut().append(WARNING, value);
        }
    }
    response
}

/// Returns the distinct warnings. If they are too long, each is truncated and the last ones are omitted
/// (`WithWarningRecorder`).
fn bounded_warnings(warnings: &[String]) -> Vec<&str> {
    let length = |warning: &str| warning.chars().count();
    let mut known = BTreeSet::new();
    let warnings = warnings.iter().map(String::as_str);
    let distinct: Vec<&str> = warnings.filter(|warning| !warning.is_empty() && known.insert(*warning)).collect();
    if distinct.iter().map(|warning| length(warning)).sum::<usize>() <= MAX_WARNINGS_LENGTH {
        return distinct;
    }
    let mut written = 0;
    let is_included = |warning: &&str| {
        let is_included = written < MAX_WARNINGS_LENGTH;
        written += length(warning);
        is_included
    };
    distinct.into_iter().map(truncate_warning).take_while(is_included).collect()
}

fn truncate_warning(warning: &str) -> &str {
    warning.char_indices().nth(TRUNCATED_WARNING_LENGTH).map_or(warning, |(end, _)| &warning[..end])
}

fn error_response(status: &Status, encoding: Encoding) -> Response<Body> {
    let content = encoding.write(status);
    let mut response = response(code(status), content.media_type, full(content.bytes));
    if let Some(seconds) = status.details.as_ref().and_then(|details| details.retry_after_seconds) {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

fn code(status: &Status) -> StatusCode {
    let code = status.code.and_then(|code| u16::try_from(code).ok()).and_then(|code| StatusCode::from_u16(code).ok());
    code.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_warnings_are_truncated_as_by_the_real_server() {
        let warnings = |count: usize, length: usize| -> Vec<String> {
            (0..count).map(|index| format!("{index:04}{}", "é".repeat(length - 4))).collect()
        };
        let few = [warnings(16, 256), warnings(1, 256)].concat();
        assert_eq!(bounded_warnings(&few), few[..16]);
        let many = warnings(5, 1000);
        let truncated: Vec<String> = many.iter().map(|warning| warning.chars().take(256).collect()).collect();
        assert_eq!(bounded_warnings(&many), truncated);
        assert_eq!(bounded_warnings(&warnings(100_000, 10)).len(), 4096_usize.div_ceil(10));
    }
}
