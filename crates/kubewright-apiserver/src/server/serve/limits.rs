//! The limits of a server on a socket.

use std::time::Duration;

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
    /// How long a connection waits for the complete head of the next request: 30 s. Then it is closed.
    pub header_timeout: Duration,
    /// How long the body of a request may take: 60 s, as in kube-apiserver, then the request is rejected with code 504;
    /// and how long its response may take to be written, then the connection is closed. The response to a watch may
    /// take any time.
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
