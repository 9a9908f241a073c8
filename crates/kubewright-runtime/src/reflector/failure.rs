//! Failures of requests, classified by how the reflector handles them.

use std::{error::Error as StdError, io, time::Duration};

use kube::core::{Status, response::reason};

use crate::error::ObjectError;

/// A class of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The requested version or page is expired (410).
    Expired,
    /// The server has not reached the requested version yet.
    TooLarge,
    /// The server is overloaded (429), and may have sent a `Retry-After`.
    TooManyRequests(Option<Duration>),
    /// The connection was refused.
    ConnectionRefused,
    /// The server or the connection failed. The same request can succeed later.
    Transient,
    /// The server does not support the request.
    Unsupported,
    /// The versions of the server went back.
    WentBack,
    /// Any other failure.
    Other,
}

/// Errors that the reflector detects itself, without an error of the server or the connection.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(super) enum ReflectorError {
    #[error("watch closed within 1 s without events")]
    VeryShortWatch,
    #[error("no events or bookmarks for {0:?}; the connection is considered dead")]
    IdleTimeout(Duration),
    #[error("the watch did not mark the end of its initial events; listing the objects instead")]
    IncompleteStream,
    #[error("no complete response within {0:?}")]
    ListTimeout(Duration),
    #[error("the server sent an older version than before, as after a restored backup; listing the objects")]
    WentBack,
}

impl From<ReflectorError> for kube::Error {
    fn from(error: ReflectorError) -> Self {
        kube::Error::Service(Box::new(error))
    }
}

impl Failure {
    pub(super) fn classify(error: &kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => Self::classify_status(status),
            kube::Error::BuildRequest(_) | kube::Error::HttpError(_) => Failure::Other,
            kube::Error::Service(error) if matches!(error.downcast_ref(), Some(ReflectorError::WentBack)) => {
                Failure::WentBack
            }
            error if is_connection_refused(error) => Failure::ConnectionRefused,
            _ => Failure::Transient,
        }
    }

    pub(super) fn classify_status(status: &Status) -> Self {
        let known = reason::is_known(&status.reason);
        match (status.reason.as_str(), status.code) {
            _ if is_too_large(status) => Failure::TooLarge,
            (reason::EXPIRED | reason::GONE, _) => Failure::Expired,
            (reason::TOO_MANY_REQUESTS, _) | (_, 429) => Failure::TooManyRequests(retry_after(status)),
            (reason::INTERNAL_ERROR | reason::SERVICE_UNAVAILABLE | reason::TIMEOUT | reason::SERVER_TIMEOUT, _) => {
                Failure::Transient
            }
            (reason::INVALID | reason::BAD_REQUEST | reason::METHOD_NOT_ALLOWED, _) => Failure::Unsupported,
            (_, 410) if !known => Failure::Expired,
            (_, 500..) if !known => Failure::Transient,
            (_, 400 | 405 | 422) if !known => Failure::Unsupported,
            // For example an object that cannot be read from etcd: only a list returns the remaining objects.
            _ => Failure::Other,
        }
    }
}

/// Returns whether the server responded: with an error, or with an object that cannot be decoded. A refused connection
/// is a response, too. Timeouts and interrupted connections are none.
pub(super) fn is_response(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(_) | kube::Error::SerdeError(_) | kube::Error::FromUtf8(_) => true,
        kube::Error::Service(cause) if cause.is::<ObjectError>() => true,
        error => is_connection_refused(error),
    }
}

/// Servers before 1.18.6 report it in the message only.
fn is_too_large(status: &Status) -> bool {
    const TEXT: &str = "Too large resource version";
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let timed_out = status.reason == reason::TIMEOUT;
    causes.into_iter().any(|cause| cause.reason == "ResourceVersionTooLarge" || timed_out && cause.message == TEXT)
        || timed_out && status.message.contains(TEXT)
}

fn retry_after(status: &Status) -> Option<Duration> {
    let seconds = status.details.as_ref()?.retry_after_seconds;
    (seconds > 0).then(|| Duration::from_secs(seconds.into()))
}

/// An `io::Error` returns the source of the error it wraps; the wrapped error itself needs `get_ref`.
fn is_connection_refused(error: &(dyn StdError + 'static)) -> bool {
    let is_refused = error.downcast_ref::<io::Error>().is_some_and(|error| {
        error.kind() == io::ErrorKind::ConnectionRefused
            || error.get_ref().is_some_and(|wrapped| is_connection_refused(wrapped))
    });
    is_refused || error.source().is_some_and(is_connection_refused)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn classify(status: serde_json::Value) -> Failure {
        Failure::classify_status(&serde_json::from_value(status).unwrap())
    }

    #[test]
    fn both_reasons_and_the_bare_code_of_410_are_expired() {
        for reason in ["Expired", "Gone", ""] {
            assert_eq!(classify(json!({"code": 410, "reason": reason})), Failure::Expired, "{reason}");
        }
    }

    #[test]
    fn r03_a_too_large_version_is_detected_by_its_cause_or_by_the_message_of_old_servers() {
        let cause = |cause| json!({"code": 504, "reason": "Timeout", "details": {"causes": [cause]}});
        assert_eq!(classify(cause(json!({"reason": "ResourceVersionTooLarge"}))), Failure::TooLarge);
        assert_eq!(classify(cause(json!({"message": "Too large resource version"}))), Failure::TooLarge);
        let text = "Too large resource version: 9, current: 3";
        assert_eq!(classify(json!({"code": 504, "reason": "Timeout", "message": text})), Failure::TooLarge);
        assert_eq!(classify(json!({"code": 504, "reason": "Timeout"})), Failure::Transient);
    }

    #[test]
    fn r11_an_unreadable_object_is_not_an_internal_error() {
        assert_eq!(classify(json!({"code": 500, "reason": "StorageReadError"})), Failure::Other);
        assert_eq!(classify(json!({"code": 500, "reason": "InternalError"})), Failure::Transient);
    }

    #[test]
    fn r04_too_many_requests_can_carry_a_retry_after() {
        let status = json!({"code": 429, "reason": "TooManyRequests", "details": {"retryAfterSeconds": 7}});
        assert_eq!(classify(status), Failure::TooManyRequests(Some(Duration::from_secs(7))));
        assert_eq!(classify(json!({"code": 429})), Failure::TooManyRequests(None));
    }

    #[test]
    fn errors_of_the_server_are_responses_and_timeouts_are_not() {
        let status = Status::failure("forbidden", reason::FORBIDDEN).with_code(403);
        assert!(is_response(&kube::Error::Api(Box::new(status))));
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        assert!(is_response(&kube::Error::Service(Box::new(refused))));
        assert!(!is_response(&ReflectorError::IdleTimeout(Duration::from_secs(90)).into()));
        assert!(!is_response(&kube::Error::ReadEvents(io::ErrorKind::ConnectionReset.into())));
    }

    #[test]
    fn r04_a_refused_connection_is_detected_at_any_depth() {
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        let error = kube::Error::Service(Box::new(io::Error::other(refused)));
        assert_eq!(Failure::classify(&error), Failure::ConnectionRefused);
        let reset = kube::Error::ReadEvents(io::ErrorKind::ConnectionReset.into());
        assert_eq!(Failure::classify(&reset), Failure::Transient);
    }
}
