//! The limits of a server on a socket.

use std::time::Duration;

use crate::wire::MAX_BODY_BYTES;

/// The maximum size of the request line and the headers of a request, as in Go's server.
const MAX_HEADER_BYTES: usize = 1 << 20;
/// The time to complete requests in progress when the server stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// The limits of a server on a socket. The defaults are those of kube-apiserver where it has one.
///
/// A client is an address with a `User-Agent`. A request is in flight from its complete head until its response is
/// written; a watch, until it starts.
///
/// - A client has at most as many requests in flight as there are free slots: one client gets half of the slots, two
///   get a third each. So another client always finds one. Further requests are rejected with code 429.
/// - A connection beyond the maximum replaces the one that has waited longest for a request, of the address with the
///   most connections. If none waits, it replaces the oldest watch of the client with the most watches. It never
///   replaces one with a request in flight.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The maximum number of connections: 4096.
    pub max_connections: usize,
    /// The maximum number of connections of one address: 2048.
    pub max_connections_per_address: usize,
    /// The maximum number of reads (GET and HEAD) in flight: 400, as in kube-apiserver. 0 disables the limit.
    pub max_requests_in_flight: usize,
    /// The maximum number of other requests in flight: 200, as in kube-apiserver. 0 disables the limit.
    pub max_mutating_requests_in_flight: usize,
    /// How long a TLS handshake may take: 10 s. Then the connection is closed.
    pub handshake_timeout: Duration,
    /// How long a connection waits for the next request, and for its complete head: 30 s each. Then it is closed.
    pub header_timeout: Duration,
    /// How long the body of a request may take: 60 s, as in kube-apiserver, then the request is rejected with code 504;
    /// and how long its response may take to be written, then the connection is closed. A watch may take any time while
    /// its client reads each event in this time.
    pub request_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_connections: 4096,
            max_connections_per_address: 2048,
            max_requests_in_flight: 400,
            max_mutating_requests_in_flight: 200,
            handshake_timeout: Duration::from_secs(10),
            header_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(60),
        }
    }
}

impl Limits {
    /// Returns the limits of the HTTP server.
    pub(super) fn http(&self) -> kubewright_http::Limits {
        kubewright_http::Limits {
            max_connections: self.max_connections,
            max_connections_per_peer: self.max_connections_per_address,
            max_header_bytes: MAX_HEADER_BYTES,
            max_body_bytes: MAX_BODY_BYTES,
            // The number of requests in flight limits the bodies.
            max_total_body_bytes: usize::MAX,
            handshake_timeout: self.handshake_timeout,
            header_timeout: self.header_timeout,
            idle_timeout: self.header_timeout,
            body_timeout: self.request_timeout,
            // Webhooks and kubelets have their own timeouts.
            request_timeout: Duration::MAX,
            write_timeout: self.request_timeout,
            drain_timeout: SHUTDOWN_TIMEOUT,
            ..kubewright_http::Limits::default()
        }
    }
}
