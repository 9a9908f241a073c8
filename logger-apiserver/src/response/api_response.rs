//! Answers: what a handled request sends back.

use std::{borrow::Cow, convert::Infallible, sync::Arc};

use bytes::Bytes;
use futures::StreamExt;
use http::{
    HeaderValue, Response, StatusCode,
    header::{CONTENT_TYPE, RETRY_AFTER, WARNING},
};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use k8s_openapi::{api::autoscaling::v1::Scale, apimachinery::pkg::apis::meta::v1::Status};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    api::{
        error::{ApiError, TooLargeResourceVersion},
        object::{Encodable, Stored},
    },
    handlers::{list::Page, request::ResourceRequest, watch::Watch},
    lifecycle::deletion::Deleted,
    response::{
        document::Sent,
        table::{self, Table},
        watch,
    },
    storage::shared::SharedState,
    wire::{
        content::{Content, Encoding},
        negotiation::{self, Representation},
    },
};

/// The body of a response: whole, or a watch's stream of events.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;

/// What a request is answered with.
#[derive(Debug)]
pub(crate) enum ApiResponse {
    Content(StatusCode, Content),
    /// What is written once it is known how.
    Value(StatusCode, Value),
    /// An error, which may specify when to retry.
    Refused(Box<Status>),
    Text(StatusCode, Cow<'static, str>),
    /// A code and nothing else.
    Empty(StatusCode),
    /// What clients keep, and ask for again only if it has changed.
    Document(Box<Sent>),
    Watch(Box<Watch>),
    /// A watch that fails before its first event.
    NoWatch(Box<Status>),
    /// Another answer, and what the client should know.
    Warned(Box<Self>, Vec<String>),
}

impl ApiResponse {
    pub(crate) fn value(value: Value) -> Self {
        Self::Value(StatusCode::OK, value)
    }

    pub(crate) fn object(code: StatusCode, request: &ResourceRequest, object: &Stored) -> Self {
        let kind = &request.kind;
        match request.representation {
            Representation::MetadataList(_) => negotiation::wrong_shape(kind, false).into(),
            Representation::Object => Self::written(code, request, &object.encodable_as(kind)),
            Representation::Metadata(version) => Self::written(code, request, &object.partial_object_metadata(version)),
            Representation::Table(style) => Self::written(code, request, &Table::of_object(kind, style, object, true)),
        }
    }

    /// That it is done, and nothing else.
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
            Representation::Object => Self::written(ok, request, scale),
            Representation::Metadata(version) => {
                Self::written(ok, request, &table::scale::partial_object_metadata(scale, version.api_version()))
            }
            Representation::Table(style) => {
                Self::written(ok, request, &table::scale::of_scale(&request.kind, style, scale))
            }
        }
    }

    /// A list. Items of built-in kinds go without their type, and so do the real server's.
    pub(crate) fn list(request: &ResourceRequest, page: &Page) -> Self {
        let kind = &request.kind;
        let api_version = kind.api_version();
        let names = kind.is_custom.then_some((api_version.as_str(), kind.kind.as_str()));
        let mut metadata = json!({ "resourceVersion": page.version.to_string() });
        if page.next.is_some() || kind.is_custom && request.representation == Representation::Object {
            metadata["continue"] = json!(page.next.as_deref().unwrap_or_default());
        }
        if let Some(remaining) = page.remaining {
            metadata["remainingItemCount"] = json!(remaining);
        }
        match request.representation {
            Representation::Metadata(_) => negotiation::wrong_shape(kind, true).into(),
            Representation::Table(style) => {
                Self::written(StatusCode::OK, request, &Table::of_list(kind, style, page, metadata))
            }
            Representation::MetadataList(version) => {
                let items: Vec<_> = page.items.iter().map(|object| object.partial_object_metadata(version)).collect();
                let items = Some(items).filter(|items| !items.is_empty());
                let (api_version, kind) = (version.api_version(), "PartialObjectMetadataList");
                Self::written(StatusCode::OK, request, &List { api_version, kind, metadata, items })
            }
            Representation::Object => {
                let items = Some(page.items.iter().map(|object| object.encodable(names)).collect());
                Self::written(
                    StatusCode::OK,
                    request,
                    &List { api_version: &api_version, kind: &kind.list_kind, metadata, items },
                )
            }
        }
    }

    /// The object while it lasts, a success once it is gone.
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
                let names = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details });
                Self::written(StatusCode::OK, request, &names)
            }
        }
    }

    fn written(code: StatusCode, request: &ResourceRequest, value: &impl Serialize) -> Self {
        Self::Content(code, request.encoding.write(value))
    }

    /// The HTTP response. What is no object of a resource is written as `encoding` says.
    pub(crate) fn into_response(self, shared: Arc<SharedState>, encoding: Encoding) -> Response<Body> {
        match self {
            Self::Content(code, content) => response(code, content.media_type, whole(content.bytes)),
            Self::Value(code, value) => Self::Content(code, encoding.write(&value)).into_response(shared, encoding),
            Self::Refused(status) => refused(&status, encoding),
            Self::Text(code, text) => response(code, "text/plain; charset=utf-8", whole(text.into_owned())),
            Self::Empty(code) => {
                let mut response = Response::new(Body::default());
                *response.status_mut() = code;
                response
            }
            Self::Document(document) => document.into_response(),
            Self::Watch(watch) => {
                let media_type = watch.encoding.stream_media_type();
                let frames = watch::stream(*watch, shared).map(|event| Ok(http_body::Frame::data(event)));
                response(StatusCode::OK, media_type, StreamBody::new(frames).boxed_unsync())
            }
            Self::Warned(answer, warnings) => warned(answer.into_response(shared, encoding), &warnings),
            Self::NoWatch(status) => {
                response(StatusCode::OK, encoding.stream_media_type(), whole(encoding.event("ERROR", &status)))
            }
        }
    }
}

impl From<ApiError> for ApiResponse {
    fn from(refusal: ApiError) -> Self {
        match refusal {
            ApiError::PageNotFound => Self::Text(StatusCode::NOT_FOUND, "404 page not found\n".into()),
            ApiError::TooLargeResourceVersion(ahead) => ahead.into(),
            ApiError::Status(status) => Self::Refused(status),
        }
    }
}

impl From<TooLargeResourceVersion> for ApiResponse {
    fn from(ahead: TooLargeResourceVersion) -> Self {
        if ahead.is_watch { Self::NoWatch(ahead.into_status()) } else { Self::Refused(ahead.into_status()) }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct List<'a> {
    api_version: &'a str,
    kind: &'a str,
    metadata: Value,
    /// Of a list of metadata that is empty there are none.
    items: Option<Vec<Encodable<'a>>>,
}

fn warned(mut response: Response<Body>, warnings: &[String]) -> Response<Body> {
    for warning in warnings {
        // Anyone's text may be in it; what a header cannot hold is left out.
        if let Ok(value) = HeaderValue::from_str(&format!("299 - {warning:?}")) {
            response.headers_mut().append(WARNING, value);
        }
    }
    response
}

fn refused(status: &Status, encoding: Encoding) -> Response<Body> {
    let content = encoding.write(status);
    let mut response = response(code(status), content.media_type, whole(content.bytes));
    if let Some(seconds) = status.details.as_ref().and_then(|details| details.retry_after_seconds) {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

fn code(status: &Status) -> StatusCode {
    let code = status.code.and_then(|code| u16::try_from(code).ok()).and_then(|code| StatusCode::from_u16(code).ok());
    code.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

pub(crate) fn whole(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).boxed_unsync()
}

pub(crate) fn response(code: StatusCode, content_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
