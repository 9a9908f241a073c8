//! The HTTP server of the agent: ingestion, health checks and metrics.
//!
//! It does not use the server of `kubewright-manager`, whose package contains the client of the API server and its TLS
//! libraries: an agent needs neither, and is a small static program.

mod admission;
mod connection;
mod deadline;
mod endpoints;
mod response;
mod shares;

use std::{
    io,
    net::{SocketAddr, TcpListener as StdTcpListener},
    num::NonZeroU32,
    sync::Arc,
    time::Duration,
};

use tokio::{
    net::TcpListener,
    task::{JoinError, JoinSet},
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    record::MAX_LINE,
    sources::{Source, Tokens},
};

use admission::Admission;

pub use endpoints::Endpoints;

/// The pause after a connection could not be accepted, for example with too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

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
        let listener = StdTcpListener::bind(config.address).map_err(error)?;
        listener.set_nonblocking(true).map_err(error)?;
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
        let endpoints = Arc::new(endpoints);
        let listener = TcpListener::from_std(self.listener).map_err(ServerError::Listen)?;
        let admission = Admission::new(self.config.max_connections);
        let (draining, mut tasks) = (CancellationToken::new(), JoinSet::new());
        tracing::info!(address = %self.address, "serving");
        loop {
            tokio::select! {
                biased;
                () = cancelled.cancelled() => break,
                Some(ended) = tasks.join_next() => log_panic(ended),
                accepted = listener.accept() => match accepted {
                    Ok((stream, address)) => {
                        let peer = address.ip();
                        // Without a place, the connection is closed.
                        let Some(admitted) = admission.admit(peer) else { continue };
                        let (endpoints, draining) = (Arc::clone(&endpoints), draining.clone());
                        tasks.spawn(async move {
                            connection::serve(stream, peer, admitted.kind, endpoints, draining).await;
                            drop(admitted);
                        });
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a connection cannot be accepted");
                        sleep(ACCEPT_PAUSE).await;
                    }
                },
            }
        }
        drop(listener);
        draining.cancel();
        drain(&mut tasks, self.config.drain_timeout).await;
        Ok(())
    }
}

/// Waits for the connections, and closes those that exceed the timeout.
async fn drain(tasks: &mut JoinSet<()>, drain_timeout: Duration) {
    let completed = async {
        while let Some(ended) = tasks.join_next().await {
            log_panic(ended);
        }
    };
    if timeout(drain_timeout, completed).await.is_err() {
        tracing::warn!(connections = tasks.len(), ?drain_timeout, "closing connections with requests in progress");
        tasks.shutdown().await;
    }
}

fn log_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "a connection panicked");
    }
}

#[cfg(test)]
mod tests;
