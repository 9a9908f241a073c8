//! A fault: what a request meets in place of the server, or on its way to and from it.

use std::{io, time::Duration};

use bytes::Bytes;
use http::StatusCode;
use jiff::SignedDuration;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Status, StatusDetails};
use serde_json::json;
use tokio::sync::watch::Receiver;

/// What a request meets. One is made by what it does, and may be [`delayed`](Self::delayed) or [`gated`](Self::gated).
#[derive(Debug, Clone)]
pub struct Fault {
    pub(super) delay: Duration,
    pub(super) gate: Option<Receiver<bool>>,
    pub(super) outcome: Outcome,
}

#[derive(Debug, Clone)]
pub(super) enum Outcome {
    ApiResponse(ApiResponse),
    Broken(io::ErrorKind),
    Hang,
    Serve(Shape),
}

/// An answer that is not the server's.
#[derive(Debug, Clone)]
pub(super) struct ApiResponse {
    pub(super) code: StatusCode,
    pub(super) content_type: &'static str,
    /// Seconds.
    pub(super) retry_after: Option<u32>,
    pub(super) body: Bytes,
    /// The connection breaks at the end of the body.
    pub(super) is_torn: bool,
}

/// What becomes of the server's own answer.
#[derive(Debug, Clone, Default)]
pub(super) struct Shape {
    /// The request is processed, and its response is lost.
    pub(super) is_lost: bool,
    /// How long it is on its way.
    pub(super) late: Duration,
    pub(super) break_after: Option<usize>,
    pub(super) slow: Option<(usize, Duration)>,
    pub(super) skew: Option<SignedDuration>,
}

const TOO_OLD: &str = "too old resource version: 1 (2)";

/// Faults in place of the server, which does not receive the request.
impl Fault {
    /// An error of the API server: a `Status` with this code (500 if it is not a valid one), reason and message.
    #[must_use]
    pub fn status(code: u16, reason: &str, message: &str) -> Self {
        Self::json(code, status(code, reason, message, None), None)
    }

    /// As [`status`](Self::status), with a `Retry-After` of this many seconds in the header and in the details.
    #[must_use]
    pub fn status_retry_after(code: u16, reason: &str, message: &str, seconds: u32) -> Self {
        Self::json(code, status(code, reason, message, Some(seconds)), Some(seconds))
    }

    /// 429 with a `Retry-After`, in plain text as API priority and fairness sends it
    /// (apiserver, `server/filters/priority-and-fairness.go`, `tooManyRequests`).
    #[must_use]
    pub fn too_many_requests(retry_after_seconds: u32) -> Self {
        let body = "Too many requests, please try again later.\n";
        let answer = ApiResponse { retry_after: Some(retry_after_seconds), ..ApiResponse::new(429, body.into()) };
        Self::of(Outcome::ApiResponse(answer))
    }

    /// 410 `Expired` as an HTTP status: the version that was asked for is too old.
    #[must_use]
    pub fn expired() -> Self {
        Self::status(410, "Expired", TOO_OLD)
    }

    /// A watch that begins with 200, says at once that its version is too old (410 `Expired`), and ends.
    #[must_use]
    pub fn expired_event() -> Self {
        Self::of(Outcome::ApiResponse(ApiResponse {
            content_type: "application/json",
            ..ApiResponse::new(200, expired_line())
        }))
    }

    /// This code (500 if it is none) and body, of type JSON if it begins as such.
    #[must_use]
    pub fn answer(code: u16, body: impl Into<String>) -> Self {
        let body: String = body.into();
        Self::of(Outcome::ApiResponse(ApiResponse::new(code, body.into())))
    }

    /// 200 and the beginning of a body; then the connection is reset.
    #[must_use]
    pub fn torn(beginning: impl Into<String>) -> Self {
        let beginning: String = beginning.into();
        Self::of(Outcome::ApiResponse(ApiResponse { is_torn: true, ..ApiResponse::new(200, beginning.into()) }))
    }

    /// The connection is refused.
    #[must_use]
    pub fn refused() -> Self {
        Self::of(Outcome::Broken(io::ErrorKind::ConnectionRefused))
    }

    /// The connection is reset before the server receives the request.
    #[must_use]
    pub fn reset() -> Self {
        Self::of(Outcome::Broken(io::ErrorKind::ConnectionReset))
    }

    /// Nothing, ever, until it is [cut](super::Faults::cut).
    #[must_use]
    pub fn hang() -> Self {
        Self::of(Outcome::Hang)
    }

    fn json(code: u16, body: Bytes, retry_after: Option<u32>) -> Self {
        Self::of(Outcome::ApiResponse(ApiResponse { retry_after, ..ApiResponse::new(code, body) }))
    }
}

/// On the way: the server does what it is asked.
impl Fault {
    /// The request is this long on its way to the server.
    #[must_use]
    pub fn latency(delay: Duration) -> Self {
        Self::served(Shape::default()).delayed(delay)
    }

    /// The response is delayed by this time, so it may be outdated when it arrives.
    #[must_use]
    pub fn late(delay: Duration) -> Self {
        Self::served(Shape { late: delay, ..Shape::default() })
    }

    /// The request waits until this becomes true, or its sender is dropped.
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

    /// The body comes in pieces of at most this many bytes (at least one), each after this time.
    #[must_use]
    pub fn slow(bytes: usize, each: Duration) -> Self {
        Self::served(Shape { slow: Some((bytes.max(1), each)), ..Shape::default() })
    }

    /// The server's clock is ahead of ours by this, or behind if it is negative: in its `Date` header, and in the times it
    /// sets in objects (`creationTimestamp`, `deletionTimestamp`, and `time` in `managedFields`), as far as answers are JSON.
    /// Times that clients write, such as a Lease's `renewTime`, are by their clocks and stay.
    #[must_use]
    pub fn clock_ahead(by: SignedDuration) -> Self {
        Self::served(Shape { skew: Some(by), ..Shape::default() })
    }

    fn served(shape: Shape) -> Self {
        Self::of(Outcome::Serve(shape))
    }
}

/// Before either.
impl Fault {
    /// This fault, after a time more.
    #[must_use]
    pub fn delayed(self, delay: Duration) -> Self {
        Self { delay: self.delay.saturating_add(delay), ..self }
    }

    /// Applies the fault once this becomes true or its sender is dropped.
    #[must_use]
    pub fn gated(self, open: Receiver<bool>) -> Self {
        Self { gate: Some(open), ..self }
    }

    /// Nothing but what the server does.
    pub(crate) fn none() -> Self {
        Self::served(Shape::default())
    }

    fn of(outcome: Outcome) -> Self {
        Self { delay: Duration::ZERO, gate: None, outcome }
    }
}

impl ApiResponse {
    fn new(code: u16, body: Bytes) -> Self {
        let code = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let is_json = body.trim_ascii_start().starts_with(b"{");
        let content_type = if is_json { "application/json" } else { "text/plain; charset=utf-8" };
        Self { code, content_type, retry_after: None, body, is_torn: false }
    }
}

/// The event that ends a watch whose version is too old.
pub(crate) fn expired_line() -> Bytes {
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
