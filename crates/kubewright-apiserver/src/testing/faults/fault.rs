//! A fault: an error in place of the response of the server, or on the way to and from the server.

use std::{io, time::Duration};

use bytes::Bytes;
use http::StatusCode;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Status, StatusDetails};
use serde_json::json;
use tokio::sync::watch::Receiver;

/// A fault that applies to a request. Each can also be [`delayed`](Self::delayed) or [`gated`](Self::gated).
#[derive(Debug, Clone)]
pub struct Fault {
    pub(super) delay: Duration,
    pub(super) gate: Option<Receiver<bool>>,
    pub(super) outcome: Outcome,
}

#[derive(Debug, Clone)]
pub(super) enum Outcome {
    Respond(StaticResponse),
    Broken(io::ErrorKind),
    Hang,
    Serve(Shape),
}

/// A response in place of that of the server.
#[derive(Debug, Clone)]
pub(super) struct StaticResponse {
    pub(super) code: StatusCode,
    pub(super) content_type: &'static str,
    /// Seconds.
    pub(super) retry_after: Option<u32>,
    pub(super) body: Bytes,
    /// The connection breaks at the end of the body.
    pub(super) is_torn: bool,
}

/// The faults that apply to the response of the server.
#[derive(Debug, Clone, Default)]
pub(super) struct Shape {
    /// The response is lost.
    pub(super) is_lost: bool,
    pub(super) response_delay: Duration,
    /// The number of bytes of the body after which the connection is reset.
    pub(super) break_after: Option<usize>,
    /// The maximum size of a chunk, and the delay before each.
    pub(super) throttle: Option<(usize, Duration)>,
}

/// The message of kube-apiserver.
const TOO_OLD: &str = "too old resource version: 1 (2)";

/// Faults in place of the server, which does not receive the request.
impl Fault {
    /// Responds with a `Status` with this code (500 if it is invalid), reason and message.
    #[must_use]
    pub fn status(code: u16, reason: &str, message: &str) -> Self {
        Self::json(code, status(code, reason, message, None), None)
    }

    /// Responds as [`status`](Self::status), with a `Retry-After` of this many seconds in the header and in the
    /// details.
    #[must_use]
    pub fn status_retry_after(code: u16, reason: &str, message: &str, seconds: u32) -> Self {
        Self::json(code, status(code, reason, message, Some(seconds)), Some(seconds))
    }

    /// Responds with 429 and a `Retry-After`, in plain text as API priority and fairness does
    /// (apiserver, `server/filters/priority-and-fairness.go`, `tooManyRequests`).
    #[must_use]
    pub fn too_many_requests(retry_after_seconds: u32) -> Self {
        let body = "Too many requests, please try again later.\n";
        let retry_after = Some(retry_after_seconds);
        Self::new(Outcome::Respond(StaticResponse { retry_after, ..StaticResponse::new(429, body.into()) }))
    }

    /// Responds with 410 `Expired` as an HTTP status: the requested resource version is too old.
    #[must_use]
    pub fn expired() -> Self {
        Self::status(410, "Expired", TOO_OLD)
    }

    /// Responds with 200 and a watch that sends one `ERROR` event (410 `Expired`) and ends.
    #[must_use]
    pub fn expired_event() -> Self {
        Self::new(Outcome::Respond(StaticResponse {
            content_type: "application/json",
            ..StaticResponse::new(200, expired_line())
        }))
    }

    /// Responds with this code (500 if it is invalid) and body. The content type is JSON if the body starts with `{`.
    #[must_use]
    pub fn answer(code: u16, body: impl Into<String>) -> Self {
        let body: String = body.into();
        Self::new(Outcome::Respond(StaticResponse::new(code, body.into())))
    }

    /// Responds with 200 and the beginning of a body; then the connection is reset.
    #[must_use]
    pub fn torn(beginning: impl Into<String>) -> Self {
        let beginning: String = beginning.into();
        Self::new(Outcome::Respond(StaticResponse { is_torn: true, ..StaticResponse::new(200, beginning.into()) }))
    }

    /// The connection is refused.
    #[must_use]
    pub fn connection_refused() -> Self {
        Self::new(Outcome::Broken(io::ErrorKind::ConnectionRefused))
    }

    /// The connection is reset before the server receives the request.
    #[must_use]
    pub fn reset() -> Self {
        Self::new(Outcome::Broken(io::ErrorKind::ConnectionReset))
    }

    /// Never responds. The request is pending until it is [cut](super::Faults::cut).
    #[must_use]
    pub fn hang() -> Self {
        Self::new(Outcome::Hang)
    }

    fn json(code: u16, body: Bytes, retry_after: Option<u32>) -> Self {
        Self::new(Outcome::Respond(StaticResponse { retry_after, ..StaticResponse::new(code, body) }))
    }
}

/// Faults on the way to and from the server, which processes the request.
impl Fault {
    /// The request reaches the server after this delay.
    #[must_use]
    pub fn latency(delay: Duration) -> Self {
        Self::served(Shape::default()).delayed(delay)
    }

    /// The response is delayed, so it can be outdated when it arrives.
    #[must_use]
    pub fn late(delay: Duration) -> Self {
        Self::served(Shape { response_delay: delay, ..Shape::default() })
    }

    /// The request waits until the gate becomes true or its sender is dropped.
    #[must_use]
    pub fn gate(open: Receiver<bool>) -> Self {
        Self::served(Shape::default()).gated(open)
    }

    /// The server processes the request, and the connection is reset before the response arrives.
    #[must_use]
    pub fn lost_answer() -> Self {
        Self::served(Shape { is_lost: true, ..Shape::default() })
    }

    /// The connection is reset after this many bytes of the body.
    #[must_use]
    pub fn broken_after(bytes: usize) -> Self {
        Self::served(Shape { break_after: Some(bytes), ..Shape::default() })
    }

    /// The body arrives in chunks of at most this many bytes (at least one), each after this delay.
    #[must_use]
    pub fn slow(bytes: usize, each: Duration) -> Self {
        Self::served(Shape { throttle: Some((bytes.max(1), each)), ..Shape::default() })
    }

    fn served(shape: Shape) -> Self {
        Self::new(Outcome::Serve(shape))
    }
}

/// Modifiers of any fault.
impl Fault {
    /// Adds a delay before the fault.
    #[must_use]
    pub fn delayed(self, delay: Duration) -> Self {
        Self { delay: self.delay.saturating_add(delay), ..self }
    }

    /// Delays the fault until the gate becomes true or its sender is dropped.
    #[must_use]
    pub fn gated(self, open: Receiver<bool>) -> Self {
        Self { gate: Some(open), ..self }
    }

    /// The response of the server, unchanged.
    pub(crate) fn none() -> Self {
        Self::served(Shape::default())
    }

    fn new(outcome: Outcome) -> Self {
        Self { delay: Duration::ZERO, gate: None, outcome }
    }
}

impl StaticResponse {
    fn new(code: u16, body: Bytes) -> Self {
        let code = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let is_json = body.trim_ascii_start().starts_with(b"{");
        let content_type = if is_json { "application/json" } else { "text/plain; charset=utf-8" };
        Self { code, content_type, retry_after: None, body, is_torn: false }
    }
}

/// Returns the event that ends a watch whose resource version is too old.
pub(super) fn expired_line() -> Bytes {
    let event = json!({ "type": "ERROR", "object": status_object(410, "Expired", TOO_OLD, None) });
    format!("{event}\n").into()
}

fn status(code: u16, reason: &str, message: &str, retry_after: Option<u32>) -> Bytes {
    let status = status_object(code, reason, message, retry_after);
    serde_json::to_vec(&status).expect("a Status has string keys and serialises").into()
}

fn status_object(code: u16, reason: &str, message: &str, retry_after: Option<u32>) -> Status {
    let seconds = retry_after.map(|seconds| i32::try_from(seconds).unwrap_or(i32::MAX));
    Status {
        code: Some(code.into()),
        details: seconds.map(|_| StatusDetails { retry_after_seconds: seconds, ..StatusDetails::default() }),
        message: Some(message.to_owned()),
        reason: Some(reason.to_owned()).filter(|reason| !reason.is_empty()),
        status: Some("Failure".to_owned()),
        ..Status::default()
    }
}
