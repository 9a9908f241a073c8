//! Options of a server: its address and its limits.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};

use kubewright_http::Limits;

use crate::serving::ClientCa;

/// The name, address and limits of a [`Server`](super::Server).
///
/// The limits are those of controller-runtime where it has one.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    pub(super) name: String,
    pub(super) address: SocketAddr,
    pub(super) limits: Limits,
    pub(super) client_ca: Option<ClientCa>,
    pub(super) describes_only: bool,
}

impl ServerConfig {
    /// Creates the options of a server on a port of the loopback interface. The name occurs in logs and errors. Port 0
    /// selects a free port.
    pub fn new(name: impl Into<String>, port: u16) -> Self {
        ServerConfig {
            name: name.into(),
            address: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port),
            limits: Limits {
                handshake_timeout: Duration::from_secs(32),
                write_timeout: Duration::from_secs(90),
                ..Limits::default()
            },
            client_ca: None,
            describes_only: false,
        }
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the address, such as those of all interfaces, `(Ipv6Addr::UNSPECIFIED, 8080)`, for IPv4 and, if
    /// the host has it, IPv6; by default the loopback interface.
    #[must_use]
    pub fn address(mut self, address: impl Into<SocketAddr>) -> Self {
        self.address = address.into();
        self
    }

    /// Sets the maximum size of the body of a request, in bytes; 7 MiB by default. A larger one is answered with code
    /// 413.
    #[must_use]
    pub fn max_body_size(mut self, bytes: usize) -> Self {
        self.limits.max_body_bytes = bytes;
        self
    }

    /// Sets the maximum size of the bodies of all requests that are received or handled at a time, in bytes; 32 MiB by
    /// default. Those of one peer address have at most half. A further body waits until there is space, within the
    /// timeout of its request. One body of the maximum size is always received.
    #[must_use]
    pub fn max_total_body_size(mut self, bytes: usize) -> Self {
        self.limits.max_total_body_bytes = bytes;
        self
    }

    /// Sets the maximum number of connections, at least 1; 1024 by default. A further one replaces the one that has
    /// been idle for the longest time, of the peer with the most, or waits while all have a request in progress.
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.limits.max_connections = connections;
        self
    }

    /// Sets how long a client may take for the TLS handshake, and for the headers of a request from their first byte
    /// on; 32 s by default. Then the connection is closed.
    #[must_use]
    pub fn header_timeout(mut self, timeout: Duration) -> Self {
        (self.limits.handshake_timeout, self.limits.header_timeout) = (timeout, timeout);
        self
    }

    /// Sets the timeout of a request; 60 s by default. A body that is not received by then is answered with code 408, a
    /// handler that has not responded by then is cancelled, with code 503.
    #[must_use]
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        (self.limits.body_timeout, self.limits.request_timeout) = (timeout, timeout);
        self
    }

    /// Sets how long a connection may be idle between two requests, and how long a response may take to be written; 90
    /// s by default. Then it is closed.
    #[must_use]
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        (self.limits.idle_timeout, self.limits.write_timeout) = (timeout, timeout);
        self
    }

    /// Verifies the certificates of clients: with one of another authority, the handshake fails. Clients without a
    /// certificate are served, except by the admission webhooks of a manager. A handler recognizes the others by the
    /// extension [`ClientCertificate`](crate::serving::ClientCertificate) of their requests.
    #[must_use]
    pub fn client_ca(mut self, authorities: ClientCa) -> Self {
        self.client_ca = Some(authorities);
        self
    }

    /// Returns whether certificates of clients are verified.
    pub(crate) fn has_client_ca(&self) -> bool {
        self.client_ca.is_some()
    }

    /// Uses no port if true: the server can be [described](super::Server::describe), but not run.
    #[must_use]
    pub fn describes_only(mut self, describes_only: bool) -> Self {
        self.describes_only = describes_only;
        self
    }

    /// Sets how long requests in progress may take after the server is stopped; 30 s by default.
    #[must_use]
    pub fn drain_timeout(mut self, timeout: Duration) -> Self {
        self.limits.drain_timeout = timeout;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_set_the_limits() {
        let [handshake, write] = [32, 90].map(Duration::from_secs);
        let limits = ServerConfig::new("test", 0).limits;
        assert_eq!((limits.handshake_timeout, limits.write_timeout), (handshake, write));
        let [header, request, idle, drain] = [1, 2, 3, 4].map(Duration::from_secs);
        let config = ServerConfig::new("test", 0).header_timeout(header).request_timeout(request).idle_timeout(idle);
        let limits = config.drain_timeout(drain).max_connections(5).max_body_size(6).max_total_body_size(7).limits;
        assert_eq!((limits.handshake_timeout, limits.header_timeout), (header, header));
        assert_eq!((limits.body_timeout, limits.request_timeout), (request, request));
        assert_eq!((limits.idle_timeout, limits.write_timeout, limits.drain_timeout), (idle, idle, drain));
        assert_eq!((limits.max_connections, limits.max_body_bytes, limits.max_total_body_bytes), (5, 6, 7));
    }
}
