//! An HTTP/1.1 server with limits, on one address, with or without TLS.

mod bodies;
mod config;
mod connection;
mod exchange;
mod status;
mod timed_stream;

use std::{
    collections::HashMap,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener as StdTcpListener},
    sync::Arc,
    time::Duration,
};

use kubewright_core::description::ServerDescription;
use socket2::{Domain, Socket, Type};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    task::{Id, JoinError, JoinSet},
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::{
    certificates::Certificates,
    router::{RouteError, Router},
    tls::{TlsError, acceptor},
};

pub use config::ServerConfig;
pub use status::{ServerStatus, StatusError};

use bodies::Bodies;
use connection::Connection;
use timed_stream::Phases;

/// The maximum number of connections that wait to be accepted, as in tokio.
const BACKLOG: i32 = 1024;
/// The error of Linux for a socket of an unknown address family. `std` has no kind for it.
const EAFNOSUPPORT: i32 = 97;
/// How often a connection that waits looks for an idle one.
const EVICTION_INTERVAL: Duration = Duration::from_millis(100);
/// The pause after a connection could not be accepted, for example with too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves a [`Router`] on one address.
///
/// Guarantees:
/// - The server listens on the loopback interface unless another address is configured.
/// - The size of a body and of all bodies together, the time to send the headers of a request, the time of a request,
///   the time to read a response, the time of an idle connection and the number of connections are limited.
/// - The body of a request without a handler is not received. One peer address cannot use all memory of bodies.
/// - With the maximum number of connections, a further one replaces the one that has been idle for the longest time. It
///   waits only while all have a request in progress.
/// - A panic of a handler is logged and answered with code 500. The connection and the server continue.
/// - After a cancellation, no connection is accepted, idle connections are closed, and requests in progress are
///   completed within the drain timeout. Then all connections are closed.
/// - All connections end with [`run`](Self::run): no task is detached.
/// - [`ServerStatus::check`] fails while the server accepts no connections, or its certificate is not valid.
///
/// The server supports HTTP/1.1 only. The API server and Prometheus do not need HTTP/2, and its multiplexing enables
/// attacks such as Rapid Reset.
#[derive(Debug)]
#[must_use = "a server serves only while it runs"]
pub struct Server {
    /// `None` for a server that can only be described.
    listener: Option<StdTcpListener>,
    address: SocketAddr,
    config: Arc<ServerConfig>,
    router: Arc<Router>,
    certificates: Option<Certificates>,
    status: ServerStatus,
}

/// A server that could not start, or not stop in time.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address cannot be used, such as a port in use.
    #[error("the server `{name}` cannot listen on {address}: {source}{suggestion}")]
    Bind {
        /// The name of the server.
        name: String,
        /// The configured address.
        address: SocketAddr,
        /// What to change.
        suggestion: &'static str,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The runtime cannot use the listener.
    #[error("the server `{name}` cannot accept connections: {source}")]
    Listen {
        /// The name of the server.
        name: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A route is invalid.
    #[error("the server `{name}` has an invalid route: {source}")]
    Route {
        /// The name of the server.
        name: String,
        /// The error of the router.
        source: RouteError,
    },
    /// TLS cannot be configured.
    #[error("the server `{name}` cannot use TLS: {source}")]
    Tls {
        /// The name of the server.
        name: String,
        /// The error of the TLS library.
        source: TlsError,
    },
    /// Requests were still in progress after the drain timeout and were cancelled.
    #[error(
        "the server `{name}` stopped, but closed {connections} connections with requests in progress after {timeout:?}"
    )]
    Drain {
        /// The name of the server.
        name: String,
        /// The number of connections.
        connections: usize,
        /// The drain timeout.
        timeout: Duration,
    },
}

impl Server {
    /// Listens on the configured address. Connections wait until [`run`](Self::run).
    ///
    /// # Errors
    /// Fails if the address is in use or not available, or if a route is invalid.
    pub fn bind(config: ServerConfig, router: Router) -> Result<Self, ServerError> {
        router.validate().map_err(|source| ServerError::Route { name: config.name.clone(), source })?;
        let bind_error = |source: io::Error| {
            let (name, address, suggestion) = (config.name.clone(), config.address, suggestion(source.kind()));
            ServerError::Bind { name, address, suggestion, source }
        };
        let (listener, address) = match config.describes_only {
            true => (None, config.address),
            false => {
                let listener = listen(config.address).map_err(bind_error)?;
                let address = listener.local_addr().map_err(bind_error)?;
                (Some(listener), address)
            }
        };
        let (config, router, status) = (Arc::new(config), Arc::new(router), ServerStatus::default());
        Ok(Server { listener, address, config, router, certificates: None, status })
    }

    /// Serves HTTPS with these certificates. While the server runs, it replaces them when their files change.
    pub fn tls(mut self, certificates: Certificates) -> Self {
        self.status.set_certificates(certificates.clone());
        self.certificates = Some(certificates);
        self
    }

    /// Returns the address on which the server listens, with the port that the system selected for port 0.
    #[must_use]
    pub fn local_address(&self) -> SocketAddr {
        self.address
    }

    /// Describes the server: its port and its paths.
    #[must_use]
    pub fn describe(&self) -> ServerDescription {
        ServerDescription {
            name: self.config.name.clone(),
            port: self.address.port(),
            https: self.certificates.is_some(),
            authenticated: self.router.is_authenticated(),
            paths: self.router.paths(),
        }
    }

    /// Returns the status of the server. It remains usable while the server runs.
    pub fn status(&self) -> ServerStatus {
        self.status.clone()
    }

    /// Returns the name of the server.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.config.name
    }

    /// Serves until cancelled, and completes the requests in progress.
    ///
    /// # Errors
    /// Fails if the listener or TLS cannot be used, or if requests were still in progress after the drain timeout.
    pub async fn run(self, cancelled: CancellationToken) -> Result<(), ServerError> {
        let tls_error = |source| ServerError::Tls { name: self.config.name.clone(), source };
        let acceptor = self.certificates.as_ref().map(acceptor).transpose().map_err(tls_error)?;
        let _stopped = self.status.stop_on_drop();
        tracing::info!(server = self.config.name, address = %self.address, tls = acceptor.is_some(), "serving");
        let mut connections = Connections::new(&self, acceptor);
        let listen_error = |source| ServerError::Listen { name: self.config.name.clone(), source };
        let listener = self.listener.ok_or_else(|| io::Error::other("it was created to be described only"));
        let listener = listener.and_then(TcpListener::from_std).map_err(listen_error)?;
        let certificates = self.certificates.clone();
        let polled = async {
            match certificates {
                Some(certificates) => certificates.poll().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = cancelled.cancelled() => {}
            () = connections.accept(&listener) => {}
            () = polled => {}
        }
        drop(listener);
        connections.drain().await
    }
}

/// Listens on an address; on `[::]`, to both IPv4 and IPv6. The socket can be used by a runtime.
fn listen(address: SocketAddr) -> io::Result<StdTcpListener> {
    let socket = bind_or_fall_back(address, bind)?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// Binds an address; in place of `[::]`, all IPv4 addresses if the host has no IPv6.
fn bind_or_fall_back<S>(address: SocketAddr, bind: impl Fn(SocketAddr) -> io::Result<S>) -> io::Result<S> {
    let bound = bind(address);
    let is_unspecified = address.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED);
    match &bound {
        Err(error) if is_unspecified && has_no_ipv6(error) => {
            tracing::info!(%address, %error, "IPv6 is not available; listening on IPv4 only");
            bind(SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), address.port()))
        }
        _ => bound,
    }
}

/// Returns whether the error is that of a system without IPv6: without the address family, or with IPv6 disabled for
/// all interfaces.
fn has_no_ipv6(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AddrNotAvailable | io::ErrorKind::Unsupported)
        || error.raw_os_error() == Some(EAFNOSUPPORT)
}

fn bind(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    if address.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED) {
        // The default of the system can be IPv6 only.
        socket.set_only_v6(false)?;
    }
    socket.bind(&address.into())?;
    Ok(socket)
}

fn suggestion(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::AddrInUse => "; stop the other process or configure another port",
        io::ErrorKind::PermissionDenied => "; configure a port above 1023",
        io::ErrorKind::AddrNotAvailable => "; configure an address of this host, or [::] for all",
        _ => "",
    }
}

/// The connections of a running server, each in a task.
struct Connections {
    config: Arc<ServerConfig>,
    router: Arc<Router>,
    acceptor: Option<TlsAcceptor>,
    bodies: Bodies,
    permits: Arc<Semaphore>,
    /// Cancelled when the requests in progress are to be the last ones.
    draining: CancellationToken,
    tasks: JoinSet<()>,
    /// The phases of the connections, by their task.
    phases: HashMap<Id, Phases>,
    status: ServerStatus,
}

impl Connections {
    fn new(server: &Server, acceptor: Option<TlsAcceptor>) -> Self {
        let ServerConfig { max_total_body_size, max_body_size, .. } = *server.config;
        Connections {
            bodies: Bodies::new(max_total_body_size, max_body_size),
            config: Arc::clone(&server.config),
            router: Arc::clone(&server.router),
            acceptor,
            permits: Arc::new(Semaphore::new(server.config.max_connections)),
            draining: CancellationToken::new(),
            tasks: JoinSet::new(),
            phases: HashMap::new(),
            status: server.status.clone(),
        }
    }

    /// Accepts connections until dropped.
    async fn accept(&mut self, listener: &TcpListener) {
        loop {
            self.status.set_accepting();
            tokio::select! {
                Some(ended) = self.tasks.join_next_with_id() => self.ended(ended),
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) => self.admit(stream, peer.ip()).await,
                    Err(error) => self.pause(&error).await,
                },
            }
        }
    }

    /// Serves an accepted connection. If there is the maximum number, it closes the connection that has been idle for
    /// the longest time, or waits while all have a request. Further connections wait in the backlog of the system.
    async fn admit(&mut self, stream: TcpStream, peer: IpAddr) {
        // Responses are written at once, and must not wait for an acknowledgement. Fails if the connection is closed.
        drop(stream.set_nodelay(true));
        if self.permits.available_permits() == 0 {
            self.status.set_full();
        }
        loop {
            if self.permits.available_permits() == 0 {
                self.evict_idle();
            }
            tokio::select! {
                biased;
                permit = Arc::clone(&self.permits).acquire_owned() => {
                    // The semaphore is never closed.
                    if let Ok(permit) = permit {
                        self.start(stream, peer, permit);
                    }
                    return;
                }
                Some(ended) = self.tasks.join_next_with_id() => self.ended(ended),
                () = sleep(EVICTION_INTERVAL) => {}
            }
        }
    }

    /// Closes the connection that has been idle for the longest time, unless one is being closed already.
    fn evict_idle(&self) {
        if self.phases.values().any(Phases::is_evicted) {
            return;
        }
        let idle = self.phases.values().filter_map(|phases| phases.idle_since().map(|since| (since, phases)));
        if let Some((since, phases)) = idle.min_by_key(|(since, _)| *since) {
            tracing::debug!(server = self.config.name, idle = ?since.elapsed(), "closing an idle connection for another");
            phases.evict();
        }
    }

    fn start(&mut self, stream: TcpStream, peer: IpAddr, permit: OwnedSemaphorePermit) {
        let phases = Phases::new(self.config.header_timeout, self.config.idle_timeout);
        let connection = Connection {
            config: Arc::clone(&self.config),
            router: Arc::clone(&self.router),
            acceptor: self.acceptor.clone(),
            bodies: self.bodies.clone(),
            peer,
            phases: phases.clone(),
            draining: self.draining.clone(),
        };
        let task = self.tasks.spawn(async move {
            connection.serve(stream).await;
            drop(permit);
        });
        self.phases.insert(task.id(), phases);
    }

    /// Handles the end of a task. Panics of handlers are caught in the connection: this is one of a library.
    fn ended(&mut self, ended: Result<(Id, ()), JoinError>) {
        let id = ended.as_ref().map_or_else(JoinError::id, |(id, ())| *id);
        self.phases.remove(&id);
        if let Err(error) = ended
            && error.is_panic()
        {
            tracing::error!(server = self.config.name, %error, "the task of a connection panicked");
        }
    }

    /// Waits after a connection could not be accepted. A connection that the client has closed needs no pause.
    async fn pause(&self, error: &io::Error) {
        if matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset) {
            return;
        }
        tracing::warn!(server = self.config.name, %error, "a connection cannot be accepted");
        self.status.set_failed(error);
        sleep(ACCEPT_PAUSE).await;
    }

    /// Completes requests in progress within the drain timeout, and closes all connections.
    async fn drain(mut self) -> Result<(), ServerError> {
        self.draining.cancel();
        let drain_timeout = self.config.drain_timeout;
        let drained = timeout(drain_timeout, async {
            while let Some(ended) = self.tasks.join_next_with_id().await {
                self.ended(ended);
            }
        });
        if drained.await.is_ok() {
            return Ok(());
        }
        let connections = self.tasks.len();
        self.tasks.shutdown().await;
        tracing::warn!(server = self.config.name, connections, "requests in progress were cancelled by the stop");
        Err(ServerError::Drain { name: self.config.name.clone(), connections, timeout: drain_timeout })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_addresses_fall_back_to_ipv4_on_a_host_without_ipv6() {
        let all: SocketAddr = "[::]:8081".parse().unwrap();
        let without_ipv6 = |error: fn() -> io::Error| {
            move |address: SocketAddr| if address.is_ipv6() { Err(error()) } else { Ok(address.to_string()) }
        };
        let unsupported = || io::Error::from_raw_os_error(EAFNOSUPPORT);
        let disabled = || io::Error::from(io::ErrorKind::AddrNotAvailable);
        for error in [unsupported as fn() -> io::Error, disabled] {
            assert_eq!(bind_or_fall_back(all, without_ipv6(error)).unwrap(), "0.0.0.0:8081");
            let one = bind_or_fall_back("[::1]:8081".parse().unwrap(), without_ipv6(error));
            assert!(one.is_err(), "a single address has no other");
        }
        let in_use = || io::Error::from(io::ErrorKind::AddrInUse);
        assert_eq!(bind_or_fall_back(all, without_ipv6(in_use)).unwrap_err().kind(), io::ErrorKind::AddrInUse);
    }

    #[test]
    fn all_addresses_are_those_of_both_families() {
        let address =
            listen("[::]:0".parse().unwrap()).and_then(|listener| listener.local_addr().map(|at| (listener, at)));
        let (_listener, address) = address.unwrap();
        assert!(std::net::TcpStream::connect(("127.0.0.1", address.port())).is_ok());
        // A host without IPv6 has no such address.
        if address.is_ipv6() && StdTcpListener::bind("[::1]:0").is_ok() {
            assert!(std::net::TcpStream::connect(("::1", address.port())).is_ok());
        }
    }
}
