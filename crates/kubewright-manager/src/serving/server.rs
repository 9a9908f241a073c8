//! A server of a [`Router`] on one address, with or without TLS.

mod config;

use std::{
    future::pending,
    io,
    net::{SocketAddr, TcpListener as StdTcpListener},
    sync::Arc,
    time::Duration,
};

use kubewright_core::description::ServerDescription;
use kubewright_http::{DrainError, Tls, listen};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{
    certificates::{self, Certificates, ClientCa},
    router::{RouteError, Router},
};

pub use config::ServerConfig;
pub use kubewright_http::{Status as ServerStatus, StatusError};

/// An error of the TLS library.
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub struct TlsError(#[from] rustls::Error);

/// Serves a [`Router`] on one address.
///
/// Guarantees:
/// - The server listens on the loopback interface unless another address is configured.
/// - It has the limits and the guarantees of [`kubewright_http`], with the values of its [configuration](ServerConfig).
/// - The body of a request without a handler is not received.
/// - A panic of a handler is logged and answered with code 500. The connection and the server continue.
/// - After a cancellation, no connection is accepted, idle connections are closed, and requests in progress are
///   completed within the drain timeout. Then all connections are closed.
/// - [`ServerStatus::check`] fails while the server accepts no connections, or its certificate is not valid.
#[derive(Debug)]
#[must_use = "a server serves only while it runs"]
pub struct Server {
    /// `None` for a server that can only be described.
    listener: Option<StdTcpListener>,
    address: SocketAddr,
    config: ServerConfig,
    router: Router,
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
        Ok(Server { listener, address, config, router, certificates: None, status: ServerStatus::default() })
    }

    /// Serves HTTPS with these certificates. While the server runs, it replaces them when their files change.
    pub fn tls(mut self, certificates: Certificates) -> Self {
        let checked = certificates.clone();
        self.status.set_certificate_check(move || checked.check().map_err(|error| error.to_string()));
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
        let Server { listener, address, config, router, certificates, status } = self;
        let name = config.name.clone();
        let listen_error = |source| ServerError::Listen { name: name.clone(), source };
        let listener = listener.ok_or_else(|| io::Error::other("it was created to be described only"));
        let listener = listener.and_then(TcpListener::from_std).map_err(listen_error)?;
        let mut server = kubewright_http::Server::new(&*name, listener).limits(config.limits).status(status);
        if let Some(certificates) = &certificates {
            let tls = tls(certificates, config.client_ca.as_ref());
            server = server.tls(tls.map_err(|source| ServerError::Tls { name: name.clone(), source: source.into() })?);
        }
        tracing::info!(server = name, %address, tls = certificates.is_some(), "serving");
        let polled = async {
            match &certificates {
                Some(certificates) => certificates.poll().await,
                None => pending().await,
            }
        };
        let served = server.serve(router.into_service(), cancelled.cancelled_owned());
        tokio::select! {
            result = served => result.map_err(|DrainError { connections, timeout }| {
                ServerError::Drain { name, connections, timeout }
            }),
            () = polled => Ok(()),
        }
    }
}

fn tls(certificates: &Certificates, clients: Option<&ClientCa>) -> Result<Tls, rustls::Error> {
    let certificates = Arc::new(certificates.clone());
    match clients {
        Some(clients) => {
            Ok(Tls::with_client_verifier(certificates, clients.verifier())?.identify(certificates::extensions))
        }
        None => Tls::new(certificates),
    }
}

fn suggestion(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::AddrInUse => "; stop the other process or configure another port",
        io::ErrorKind::PermissionDenied => "; configure a port above 1023",
        io::ErrorKind::AddrNotAvailable => "; configure an address of this host, or [::] for all",
        _ => "",
    }
}
