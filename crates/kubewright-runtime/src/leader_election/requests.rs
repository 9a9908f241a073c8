//! The requests of an elector: each has a hard deadline and is sent once.

use std::{collections::BTreeMap, time::Duration};

use k8s_openapi::api::coordination::v1::Lease;
use kube::{Api, Client, api::PostParams};
use tokio::time::{Instant, timeout_at};

use super::{
    record::LeaderElectionRecord,
    state_machine::{Request, Response},
};
use crate::{error::Error, object::resource_name, retry::apply_no_proxy};

/// Creates a client for an elector: without the retries that kube enables by default.
///
/// kube repeats a request up to 15 times on the codes 429, 503 and 504, and respects a `Retry-After`. A renewal that is
/// repeated in that way can use up the renew deadline. The elector retries itself, and each attempt has a timeout.
///
/// Use a dedicated client: requests of controllers then do not delay renewals.
///
/// # Errors
/// Fails if the configuration is invalid, as for any client.
///
/// # Panics
/// Panics outside a tokio runtime, as for any client.
pub fn lease_client(mut config: kube::Config) -> Result<Client, kube::Error> {
    config.default_retry = false;
    apply_no_proxy(&mut config);
    Client::try_from(config)
}

/// Sends requests for one Lease.
pub(super) struct LeaseRequests {
    api: Api<Lease>,
    name: String,
    namespace: String,
    labels: BTreeMap<String, String>,
}

/// A request without a response.
#[derive(Debug, thiserror::Error)]
#[error("no response within {0:?}")]
struct RequestTimeout(Duration);

/// Waits for the response of a request until the deadline.
pub(crate) async fn respond_by<T>(
    deadline: Instant,
    request: impl Future<Output = Result<T, kube::Error>>,
) -> Result<T, kube::Error> {
    let started = Instant::now();
    let timed_out = |_| Err(kube::Error::Service(Box::new(RequestTimeout(started.elapsed()))));
    timeout_at(deadline, request).await.unwrap_or_else(timed_out)
}

impl LeaseRequests {
    pub(super) fn new(client: Client, namespace: String, name: String, labels: BTreeMap<String, String>) -> Self {
        LeaseRequests { api: Api::namespaced(client, &namespace), name, namespace, labels }
    }

    /// Sends a request and waits for the response until the deadline.
    pub(super) async fn send(&self, request: Request, deadline: Instant) -> Result<Lease, Error> {
        let verb = verb(&request);
        respond_by(deadline, self.request(request)).await.map_err(|error| {
            Error::new(verb, resource_name::<Lease>(), &self.name, error).with_namespace(Some(&self.namespace))
        })
    }

    async fn request(&self, request: Request) -> Result<Lease, kube::Error> {
        let options = PostParams::default();
        match request {
            Request::Get => self.api.get(&self.name).await,
            Request::Create(record) => self.api.create(&options, &self.lease(record)).await,
            Request::Update(lease) => self.api.replace(&self.name, &options, &lease).await,
        }
    }

    fn lease(&self, record: LeaderElectionRecord) -> Lease {
        let mut lease = Lease { spec: Some(record.into()), ..Lease::default() };
        lease.metadata.name = Some(self.name.clone());
        lease.metadata.namespace = Some(self.namespace.clone());
        lease.metadata.labels = Some(self.labels.clone()).filter(|labels| !labels.is_empty());
        lease
    }
}

fn verb(request: &Request) -> &'static str {
    match request {
        Request::Get => "get",
        Request::Create(_) => "create",
        Request::Update(_) => "update",
    }
}

/// Converts a result to a response for the state machine.
pub(super) fn response(result: &Result<Lease, Error>, was_get: bool) -> Response {
    match result {
        Ok(lease) => Response::Lease(Box::new(lease.clone())),
        Err(error) if was_get && error.is_not_found() => Response::NotFound,
        Err(error) if error.is_conflict() || error.is_already_exists() => Response::Conflict,
        Err(_) => Response::Failed,
    }
}

/// Returns whether the error does not go away by itself: a missing permission or namespace, a rejected Lease, or a
/// Lease that cannot be decoded.
pub(crate) fn is_permanent(error: &Error) -> bool {
    match error.kube_error() {
        Some(kube::Error::Api(status)) => (400..500).contains(&status.code) && ![408, 409, 429].contains(&status.code),
        Some(kube::Error::SerdeError(_) | kube::Error::BuildRequest(_)) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::TcpListener,
    };

    use kube::core::Status;

    use super::*;

    fn error(code: u16, reason: &str) -> Error {
        let status = Status::failure("failed", reason).with_code(code);
        Error::new("get", "leases.coordination.k8s.io", "a", kube::Error::Api(Box::new(status)))
    }

    #[test]
    fn conflicts_and_missing_leases_are_recognised() {
        let response = |code, reason, was_get| response(&Err(error(code, reason)), was_get);
        assert!(matches!(response(404, "NotFound", true), Response::NotFound));
        assert!(matches!(response(404, "NotFound", false), Response::Failed));
        assert!(matches!(response(409, "Conflict", false), Response::Conflict));
        assert!(matches!(response(409, "AlreadyExists", false), Response::Conflict));
        assert!(matches!(response(500, "InternalError", true), Response::Failed));
    }

    #[test]
    fn permanent_errors_are_those_that_the_user_must_fix() {
        let permanent = [(401, "Unauthorized"), (403, "Forbidden"), (404, "NotFound"), (422, "Invalid")];
        assert!(permanent.into_iter().all(|(code, reason)| is_permanent(&error(code, reason))));
        let transient = [(408, "Timeout"), (409, "Conflict"), (429, "TooManyRequests"), (500, "InternalError")];
        assert!(!transient.into_iter().any(|(code, reason)| is_permanent(&error(code, reason))));
    }

    #[tokio::test]
    async fn l09_the_client_has_no_retries() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            let _ = connection.read(&mut [0; 4096]).unwrap();
            let response = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            connection.write_all(response.as_bytes()).unwrap();
            listener
        });
        let client = lease_client(kube::Config::new(url.parse().unwrap())).unwrap();
        let requests = LeaseRequests::new(client, "default".into(), "lease".into(), BTreeMap::new());
        let error = requests.send(Request::Get, Instant::now() + Duration::from_secs(20)).await.unwrap_err();
        assert_eq!(error.status().map(|status| status.code), Some(503), "{error}");
        let listener = server.join().unwrap();
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "there is no second connection");
    }
}
