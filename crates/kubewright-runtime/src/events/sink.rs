//! Writes events to the API server, with retries.

use std::{io, time::Duration};

use k8s_openapi::api::events::v1::Event;
use kube::{
    Api, Client,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::json;
use tokio::time::{sleep, timeout};

use super::correlator::{Verb, Write};
use crate::{error::Error, object::resource_name};

/// The maximum number of tries of a write, as in client-go.
const MAX_TRIES: u32 = 12;
/// The delay after the first failure. It doubles up to [`MAX_DELAY`], that of client-go.
const FIRST_DELAY: Duration = Duration::from_secs(1);
const MAX_DELAY: Duration = Duration::from_secs(10);
/// The maximum jitter of a delay, as a factor of the delay.
const JITTER: f64 = 0.25;
/// The longest `Retry-After` that is honoured.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);
/// The maximum duration of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Why an event was not written.
#[derive(Debug, thiserror::Error)]
pub(super) enum WriteError {
    /// The API server rejected the event, and would do so again.
    #[error("{0}")]
    Rejected(Error),
    /// Every try failed; this is the last error.
    #[error("every try failed: {0}")]
    RetriesExhausted(Error),
}

/// Writes events. Clones share the client.
#[derive(Clone)]
pub(super) struct Sink {
    client: Client,
}

impl Sink {
    pub(super) fn new(client: Client) -> Self {
        Sink { client }
    }

    /// Writes an event: retries failures of the server and of the connection, and creates an event again whose series
    /// cannot be patched because it no longer exists.
    pub(super) async fn write(self, mut write: Write) -> Result<(), WriteError> {
        let mut tries = 1;
        loop {
            let Err(error) = self.attempt(&write).await else { return Ok(()) };
            if !is_retryable(&error) {
                return Err(WriteError::Rejected(error));
            }
            if tries == MAX_TRIES {
                return Err(WriteError::RetriesExhausted(error));
            }
            if error.is_already_exists() {
                // An earlier try created the event, and its response was lost; or another one created it since.
                write.verb = Verb::Patch;
            }
            write.reporter.metrics.retries.inc();
            tracing::debug!(%error, tries, "retrying to write an event");
            sleep(delay(tries, &error)).await;
            tries += 1;
        }
    }

    async fn attempt(&self, write: &Write) -> Result<(), Error> {
        let namespace = write.event.metadata.namespace.as_deref().unwrap_or_default();
        let name = write.event.metadata.name.as_deref().unwrap_or_default();
        let api: Api<Event> = Api::namespaced(self.client.clone(), namespace);
        let failed =
            |verb, error| Error::new(verb, resource_name::<Event>(), name, error).with_namespace(Some(namespace));
        if write.verb == Verb::Patch {
            // All other fields are immutable.
            let patch = Patch::Merge(json!({ "series": write.event.series }));
            match bounded(api.patch(name, &PatchParams::default(), &patch)).await {
                Err(kube::Error::Api(status)) if status.is_not_found() => {}
                patched => return patched.map(drop).map_err(|error| failed("patch", error)),
            }
        }
        match bounded(api.create(&PostParams::default(), &write.event)).await.map_err(|error| failed("create", error)) {
            // Names are unique, so an earlier try created it, and its response was lost.
            Err(error) if error.is_already_exists() && write.event.series.is_none() => Ok(()),
            created => created.map(drop),
        }
    }
}

/// Limits the duration of a request.
async fn bounded<T>(request: impl Future<Output = kube::Result<T>>) -> kube::Result<T> {
    timeout(REQUEST_TIMEOUT, request).await.unwrap_or_else(|_| {
        let message = format!("no response within {REQUEST_TIMEOUT:?}");
        Err(kube::Error::Service(io::Error::new(io::ErrorKind::TimedOut, message).into()))
    })
}

/// Returns whether a further try can succeed.
fn is_retryable(error: &Error) -> bool {
    match error.kube_error() {
        Some(kube::Error::Api(status)) => status.code == 429 || status.code >= 500 || status.is_already_exists(),
        Some(kube::Error::HyperError(_) | kube::Error::Service(_) | kube::Error::ReadEvents(_)) => true,
        _ => false,
    }
}

/// Returns the delay after a number of failed tries: by the back-off, or by the server if that is longer.
fn delay(tries: u32, error: &Error) -> Duration {
    let doublings = tries.saturating_sub(1).min(16);
    let step = FIRST_DELAY.saturating_mul(1 << doublings).min(MAX_DELAY);
    let details = error.status().and_then(|status| status.details.as_ref());
    let retry_after = details.map_or(0, |details| details.retry_after_seconds);
    let retry_after = Duration::from_secs(retry_after.into()).min(MAX_RETRY_AFTER);
    step.mul_f64(1.0 + JITTER * fastrand::f64()).max(retry_after)
}

#[cfg(test)]
mod tests {
    use kube::core::Status;

    use super::*;

    fn error(status: serde_json::Value) -> Error {
        let status: Status = serde_json::from_value(status).unwrap();
        Error::new("create", "events.events.k8s.io", "web.1", kube::Error::Api(Box::new(status)))
    }

    #[test]
    fn e04_delays_double_up_to_ten_seconds_with_a_quarter_of_jitter() {
        for (tries, seconds) in [(1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (5, 10.0), (12, 10.0), (u32::MAX, 10.0)] {
            let delay = delay(tries, &error(json!({ "code": 500 }))).as_secs_f64();
            assert!((seconds..=1.25 * seconds).contains(&delay), "{delay} after {tries}");
        }
    }

    #[test]
    fn a_longer_retry_after_is_honoured_up_to_a_minute() {
        for (retry_after, expected) in [(30, 30), (3600, 60)] {
            let error = error(json!({ "code": 429, "details": { "retryAfterSeconds": retry_after } }));
            assert_eq!(delay(1, &error).as_secs(), expected);
        }
    }

    #[test]
    fn failures_of_the_server_and_of_the_connection_are_retried() {
        for (status, expected) in [
            (json!({ "code": 429 }), true),
            (json!({ "code": 500, "reason": "InternalError" }), true),
            (json!({ "code": 503 }), true),
            (json!({ "code": 409, "reason": "AlreadyExists" }), true),
            (json!({ "code": 403, "reason": "Forbidden" }), false),
            (json!({ "code": 404, "reason": "NotFound" }), false),
            (json!({ "code": 422, "reason": "Invalid" }), false),
        ] {
            assert_eq!(is_retryable(&error(status.clone())), expected, "{status}");
        }
        let reset = kube::Error::Service(io::Error::from(io::ErrorKind::ConnectionReset).into());
        assert!(is_retryable(&Error::new("create", "events.events.k8s.io", "web.1", reset)));
    }
}
