//! The limits of a server.

use std::time::Duration;

/// The limits of a [`Server`](crate::Server). Sizes are in bytes, and [`Duration::MAX`] disables a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of connections, at least 1: 1024. A further one replaces another one, or waits.
    pub max_connections: usize,
    /// The maximum number of connections of one peer address, at least 1: as many as of all. A further one replaces
    /// another one of the address, or is closed.
    pub max_connections_per_peer: usize,
    /// The number of connections beside the maximum, one for each peer address, which serve one request each: 0. With
    /// a reserve, a further connection replaces none. It is closed if it does not get a connection of the reserve.
    pub reserved_connections: usize,
    /// The maximum size of the request line and the headers of a request, at least 8 KiB: 1 MiB, as in Go's server.
    /// Beyond it, the response has code 431.
    pub max_header_bytes: usize,
    /// The maximum size of the body of a request: 7 MiB. A larger one is a [`BodyError`](crate::BodyError).
    pub max_body_bytes: usize,
    /// The maximum size of the bodies of all requests without a response: 32 MiB, of which one peer address has at most
    /// half. A further body waits within its timeout. One body of the maximum size is always received.
    pub max_total_body_bytes: usize,
    /// How long a TLS handshake may take: 10 s. Then the connection is closed.
    pub handshake_timeout: Duration,
    /// How long the headers of a request may take: 32 s from the start of the connection, or from the first byte of a
    /// later request. Then the connection is closed.
    pub header_timeout: Duration,
    /// How long the body of a request may take after its headers: 60 s. Then it is a [`BodyError`](crate::BodyError).
    pub body_timeout: Duration,
    /// How long a request may take from its headers until its response starts: 60 s. Then it is cancelled, with code
    /// 408 if its body is incomplete, or else 503.
    pub request_timeout: Duration,
    /// How long a response may take to be written: 60 s. A response of unknown size may take any time, but the client
    /// must read each part of it in this time. Then the connection is closed.
    pub write_timeout: Duration,
    /// How long a connection may be idle between two requests: 90 s. Then it is closed.
    pub idle_timeout: Duration,
    /// How long requests in progress may take after the server is stopped: 30 s. Then they are cancelled.
    pub drain_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_connections: 1024,
            max_connections_per_peer: usize::MAX,
            reserved_connections: 0,
            max_header_bytes: 1 << 20,
            max_body_bytes: 7 << 20,
            max_total_body_bytes: 32 << 20,
            handshake_timeout: Duration::from_secs(10),
            header_timeout: Duration::from_secs(32),
            body_timeout: Duration::from_secs(60),
            request_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(60),
            idle_timeout: Duration::from_secs(90),
            drain_timeout: Duration::from_secs(30),
        }
    }
}
