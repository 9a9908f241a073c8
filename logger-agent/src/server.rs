//! The HTTP server of the agent: ingestion, health checks and metrics.

mod endpoints;
mod response;

use std::{
    io,
    net::{SocketAddr, TcpListener as StdTcpListener},
    num::NonZeroU32,
    sync::Arc,
    time::Duration,
};

use kubewright_http::{BoxService, Limits, listen};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{
    record::MAX_LINE,
    sources::{Source, Tokens},
};

pub use endpoints::Endpoints;

/// The connections beside the limit, for probes and metrics.
const RESERVE: usize = 16;
/// The maximum size of the headers of a request.
const MAX_HEADER_BYTES: usize = 64 << 10;
/// The time of the headers of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// The time in which a client must read its responses.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// What a record adds to a body: its sequence number, time, id and checksum.
const RECORD_OVERHEAD: u64 = 64 << 10;

/// The address and the limits of a server.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// The address.
    pub address: SocketAddr,
    /// The sources whose endpoints are served.
    pub accept: Vec<Source>,
    /// The tokens of clients that send records of applications.
    pub activity_tokens: Tokens,
    /// The tokens of API servers that send audit events.
    pub audit_tokens: Tokens,
    /// The maximum size of the body of a request.
    pub max_body_bytes: usize,
    /// The number of records per second of each source.
    pub records_per_second: NonZeroU32,
    /// The bytes of bodies per second of each source.
    pub bytes_per_second: NonZeroU32,
    /// The number of connections, of which each peer has at most half. Further ones are closed, except for a reserve
    /// for health checks and metrics.
    pub max_connections: usize,
    /// The time in which a body must be received.
    pub body_timeout: Duration,
    /// How long requests in progress may take after the server is stopped.
    pub drain_timeout: Duration,
}

impl ServerConfig {
    /// Creates the options of an address, with the defaults of the command line.
    #[must_use]
    pub fn new(address: SocketAddr) -> Self {
        ServerConfig {
            address,
            accept: Source::ALL.to_vec(),
            activity_tokens: Tokens::default(),
            audit_tokens: Tokens::default(),
            max_body_bytes: 10 << 20,
            records_per_second: NonZeroU32::MIN.saturating_add(9_999),
            bytes_per_second: NonZeroU32::MIN.saturating_add((16 << 20) - 1),
            max_connections: 256,
            body_timeout: Duration::from_secs(30),
            drain_timeout: Duration::from_secs(10),
        }
    }

    fn limits(&self) -> Limits {
        Limits {
            max_connections: self.max_connections,
            max_connections_per_peer: self.max_connections.div_ceil(2),
            reserved_connections: RESERVE,
            max_header_bytes: MAX_HEADER_BYTES,
            max_body_bytes: self.max_body_bytes,
            // The endpoints reserve what they have received.
            max_total_body_bytes: usize::MAX,
            header_timeout: HEADER_TIMEOUT,
            body_timeout: self.body_timeout,
            // A record is acknowledged when it is durable.
            request_timeout: Duration::MAX,
            write_timeout: WRITE_TIMEOUT,
            drain_timeout: self.drain_timeout,
            ..Limits::default()
        }
    }
}

/// A server that cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The address cannot be used, such as a port in use.
    #[error("cannot listen on {address}: {source}; configure another address or port")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Bodies could exceed the size of a record.
    #[error("bodies of {bytes} bytes exceed the size of a record; expected at most {max}")]
    BodyLimit {
        /// The configured size.
        bytes: usize,
        /// The maximum.
        max: u64,
    },
    /// The runtime cannot use the listener.
    #[error("cannot accept connections: {0}")]
    Listen(io::Error),
}

/// Listens on one address, and serves endpoints.
///
/// Guarantees:
/// - the size and the time of headers and bodies, the time in which responses are read, the number of connections, and
///   the rate of records are limited;
/// - a peer that opens connections or does not read responses does not prevent the health checks of others;
/// - after a cancellation, no connection is accepted, and requests in progress are completed within the drain timeout;
/// - all connections end with [`run`](Self::run): no task is detached.
#[derive(Debug)]
#[must_use = "a server serves only while it runs"]
pub struct Server {
    listener: StdTcpListener,
    address: SocketAddr,
    config: ServerConfig,
}

impl Server {
    /// Listens on the configured address. Connections wait until [`run`](Self::run).
    ///
    /// # Errors
    /// Fails if the address cannot be used, or if the limit of bodies is too large.
    pub fn bind(config: ServerConfig) -> Result<Self, ServerError> {
        let (bytes, max) = (config.max_body_bytes, MAX_LINE - RECORD_OVERHEAD);
        if bytes as u64 > max {
            return Err(ServerError::BodyLimit { bytes, max });
        }
        let error = |source| ServerError::Bind { address: config.address, source };
        let listener = listen(config.address).map_err(error)?;
        let address = listener.local_addr().map_err(error)?;
        Ok(Server { listener, address, config })
    }

    /// Returns the address on which the server listens, with the port that the system selected for port 0.
    #[must_use]
    pub fn local_address(&self) -> SocketAddr {
        self.address
    }

    /// Serves the endpoints until cancelled, and completes the requests in progress.
    ///
    /// # Errors
    /// Fails if the listener cannot be used.
    pub async fn run(self, endpoints: Endpoints, cancelled: CancellationToken) -> Result<(), ServerError> {
        let Server { listener, address, config } = self;
        let listener = TcpListener::from_std(listener).map_err(ServerError::Listen)?;
        let endpoints = Arc::new(endpoints);
        let service = BoxService::from_fn(move |request| {
            let endpoints = Arc::clone(&endpoints);
            async move { endpoints.serve(request).await }
        });
        tracing::info!(%address, "serving");
        let server = kubewright_http::Server::new("agent", listener).limits(config.limits());
        // Requests that exceed the drain timeout are logged.
        let _ = server.serve(service, cancelled.cancelled_owned()).await;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
