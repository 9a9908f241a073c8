//! What went wrong with a request, as far as it matters for what to do next.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use kube::core::Status;
use kube::core::response::reason;

/// A kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The version, or the page, that was asked for is no longer known (410).
    Expired,
    /// The server has not come to the version yet.
    TooLarge,
    /// The server has too much to do (429), and may have said for how long.
    Busy(Option<Duration>),
    /// Nobody listens at the server's address.
    Refused,
    /// The server, or the way to it, is broken: the same request may do better.
    Broken,
    /// The server does not take such a request.
    NotTaken,
    /// Anything else.
    Other,
}

/// Why a request came to nothing though nobody said so.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(super) enum Silence {
    #[error("the watch ended within a second and told nothing")]
    Short,
    #[error("the server was silent for {0:?}, so the connection is taken to be dead")]
    Dead(Duration),
    #[error("the watch did not tell where its initial events end; the objects are listed instead")]
    Endless,
    #[error("no complete answer came within {0:?}")]
    Late(Duration),
}

impl From<Silence> for kube::Error {
    fn from(silence: Silence) -> Self {
        kube::Error::Service(Box::new(silence))
    }
}

impl Failure {
    pub(super) fn of(error: &kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => Self::of_status(status),
            kube::Error::BuildRequest(_) | kube::Error::HttpError(_) => Failure::Other,
            error if is_refused(error) => Failure::Refused,
            _ => Failure::Broken,
        }
    }

    pub(super) fn of_status(status: &Status) -> Self {
        let known = reason::is_known(&status.reason);
        match (status.reason.as_str(), status.code) {
            _ if is_too_large(status) => Failure::TooLarge,
            (reason::EXPIRED | reason::GONE, _) => Failure::Expired,
            (reason::TOO_MANY_REQUESTS, _) | (_, 429) => Failure::Busy(retry_after(status)),
            (reason::INTERNAL_ERROR | reason::SERVICE_UNAVAILABLE | reason::TIMEOUT | reason::SERVER_TIMEOUT, _) => {
                Failure::Broken
            }
            (reason::INVALID | reason::BAD_REQUEST | reason::METHOD_NOT_ALLOWED, _) => Failure::NotTaken,
            (_, 410) if !known => Failure::Expired,
            (_, 500..) if !known => Failure::Broken,
            (_, 400 | 405 | 422) if !known => Failure::NotTaken,
            // Such as an object that cannot be read from the store: only a list tells what is left.
            _ => Failure::Other,
        }
    }
}

/// Servers before 1.18.6 say it in the message alone.
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

/// An `io::Error` gives the source of what it holds, and that itself only when asked.
fn is_refused(error: &(dyn StdError + 'static)) -> bool {
    let held = error.downcast_ref::<io::Error>().is_some_and(|error| {
        error.kind() == io::ErrorKind::ConnectionRefused || error.get_ref().is_some_and(|held| is_refused(held))
    });
    held || error.source().is_some_and(is_refused)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(status: serde_json::Value) -> Failure {
        Failure::of_status(&serde_json::from_value(status).unwrap())
    }

    #[test]
    fn both_reasons_of_410_are_expired_and_so_is_the_bare_code() {
        for reason in ["Expired", "Gone", ""] {
            assert_eq!(of(json!({"code": 410, "reason": reason})), Failure::Expired, "{reason}");
        }
    }

    #[test]
    fn r03_a_version_too_large_is_told_by_its_cause_or_by_old_servers_text() {
        let cause = |cause| json!({"code": 504, "reason": "Timeout", "details": {"causes": [cause]}});
        assert_eq!(of(cause(json!({"reason": "ResourceVersionTooLarge"}))), Failure::TooLarge);
        assert_eq!(of(cause(json!({"message": "Too large resource version"}))), Failure::TooLarge);
        let text = "Too large resource version: 9, current: 3";
        assert_eq!(of(json!({"code": 504, "reason": "Timeout", "message": text})), Failure::TooLarge);
        assert_eq!(of(json!({"code": 504, "reason": "Timeout"})), Failure::Broken);
    }

    #[test]
    fn r11_an_object_that_cannot_be_read_is_no_internal_error() {
        assert_eq!(of(json!({"code": 500, "reason": "StorageReadError"})), Failure::Other);
        assert_eq!(of(json!({"code": 500, "reason": "InternalError"})), Failure::Broken);
    }

    #[test]
    fn r04_too_many_requests_may_say_how_long_to_wait() {
        let status = json!({"code": 429, "reason": "TooManyRequests", "details": {"retryAfterSeconds": 7}});
        assert_eq!(of(status), Failure::Busy(Some(Duration::from_secs(7))));
        assert_eq!(of(json!({"code": 429})), Failure::Busy(None));
    }

    #[test]
    fn r04_a_refused_connection_is_told_at_any_depth() {
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        let error = kube::Error::Service(Box::new(io::Error::other(refused)));
        assert_eq!(Failure::of(&error), Failure::Refused);
        let reset = kube::Error::ReadEvents(io::ErrorKind::ConnectionReset.into());
        assert_eq!(Failure::of(&reset), Failure::Broken);
    }
}
