//! Answers: what a handled request sends back

use std::{convert::Infallible, sync::Arc};

use bytes::Bytes;
use futures::StreamExt;
use http::{HeaderValue, Response, StatusCode, header::CONTENT_TYPE};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use k8s_openapi::{api::autoscaling::v1::Scale, apimachinery::pkg::apis::meta::v1::Status};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    Shared,
    delete::Deleted,
    kinds::Kind,
    object::{Named, Stored},
    status::Refusal,
    watch::Watch,
};

/// The body of a response: whole, or a watch's stream of events.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;

/// What a request is answered with.
#[derive(Debug)]
pub(crate) enum Answer {
    Json(StatusCode, Vec<u8>),
    Text(StatusCode, &'static str),
    Watch(Box<Watch>),
}

impl Answer {
    pub(crate) fn value(value: &Value) -> Self {
        Self::json(StatusCode::OK, value)
    }

    pub(crate) fn object(code: StatusCode, kind: &Kind, object: &Stored) -> Self {
        Self::json(code, &object.named(Some((&kind.api_version(), &kind.kind))))
    }

    pub(crate) fn scale(scale: &Scale) -> Self {
        Self::json(StatusCode::OK, scale)
    }

    /// A list at a version. Items of built-in kinds go without their type, and so do the real server's.
    pub(crate) fn list(kind: &Kind, version: u64, objects: &[Stored]) -> Self {
        let api_version = kind.api_version();
        let names = kind.is_custom().then_some((api_version.as_str(), kind.kind.as_str()));
        let mut metadata = json!({ "resourceVersion": version.to_string() });
        if kind.is_custom() {
            metadata["continue"] = json!("");
        }
        let items = objects.iter().map(|object| object.named(names)).collect();
        Self::json(StatusCode::OK, &List { api_version: &api_version, kind: &kind.list_kind, metadata, items })
    }

    /// The object while it lasts, a success once it is gone.
    pub(crate) fn deleted(kind: &Kind, deleted: &Deleted) -> Self {
        match deleted {
            Deleted::Ending(object) => Self::object(StatusCode::OK, kind, object),
            Deleted::Gone(object) if kind.as_built_in().is_some_and(|facts| facts.is_returned_when_deleted) => {
                Self::object(StatusCode::OK, kind, object)
            }
            Deleted::Gone(object) => {
                let mut details = json!({ "name": object.name(), "kind": kind.plural, "uid": object.uid() });
                if !kind.group.is_empty() {
                    details["group"] = json!(kind.group);
                }
                let names = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details });
                Self::json(StatusCode::OK, &names)
            }
        }
    }

    fn json(code: StatusCode, value: &impl Serialize) -> Self {
        Self::Json(code, serde_json::to_vec(value).expect("objects have string keys and serialise"))
    }

    /// The HTTP response.
    pub(crate) fn into_response(self, shared: Arc<Shared>) -> Response<Body> {
        match self {
            Self::Json(code, bytes) => response(code, "application/json", whole(bytes)),
            Self::Text(code, text) => response(code, "text/plain; charset=utf-8", whole(text)),
            Self::Watch(watch) => {
                let frames = watch.stream(shared).map(|line| Ok(http_body::Frame::data(line)));
                response(StatusCode::OK, "application/json", StreamBody::new(frames).boxed_unsync())
            }
        }
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::PageNotFound => Self::Text(StatusCode::NOT_FOUND, "404 page not found\n"),
            Refusal::Status(status) => Self::json(code(&status), &status),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct List<'a> {
    api_version: &'a str,
    kind: &'a str,
    metadata: Value,
    items: Vec<Named<'a>>,
}

fn code(status: &Status) -> StatusCode {
    let code = status.code.and_then(|code| u16::try_from(code).ok()).and_then(|code| StatusCode::from_u16(code).ok());
    code.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn whole(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).boxed_unsync()
}

fn response(code: StatusCode, content_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
