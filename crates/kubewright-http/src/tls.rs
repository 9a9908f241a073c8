//! TLS of a server: TLS 1.2 and later on rustls with ring, and HTTP/1.1 only.

use std::{fmt, io, sync::Arc};

use http::Extensions;
use rustls::{
    ServerConfig, ServerConnection,
    crypto::ring,
    server::{ResolvesServerCert, WebPkiClientVerifier, danger::ClientCertVerifier},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tokio_util::sync::CancellationToken;

use crate::timed_stream::Phases;

/// The only protocol of the server.
const ALPN: &[u8] = b"http/1.1";
/// The response to a client that does not use TLS.
const PLAIN_HTTP: &[u8] = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";

type Identify = Arc<dyn Fn(&ServerConnection) -> Extensions + Send + Sync>;

/// The TLS of a [`Server`](crate::Server). It depends on no process-wide provider.
///
/// The resolver selects the certificate of each handshake, so that a new one needs no restart. Connections remain.
#[derive(Clone)]
pub struct Tls {
    acceptor: TlsAcceptor,
    identify: Option<Identify>,
}

impl Tls {
    /// Serves the certificates of a resolver, to clients without a certificate.
    ///
    /// # Errors
    /// Fails if the TLS library rejects the configuration.
    pub fn new(certificates: Arc<dyn ResolvesServerCert>) -> Result<Self, rustls::Error> {
        Self::with_client_verifier(certificates, WebPkiClientVerifier::no_client_auth())
    }

    /// Serves the certificates of a resolver, and verifies those of clients.
    ///
    /// # Errors
    /// Fails if the TLS library rejects the configuration.
    pub fn with_client_verifier(
        certificates: Arc<dyn ResolvesServerCert>,
        clients: Arc<dyn ClientCertVerifier>,
    ) -> Result<Self, rustls::Error> {
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(clients)
            .with_cert_resolver(certificates);
        config.alpn_protocols = vec![ALPN.to_vec()];
        Ok(Tls { acceptor: TlsAcceptor::from(Arc::new(config)), identify: None })
    }

    /// Calls a function after each handshake, for example to read the certificate of the client. What it returns is
    /// added to the extensions of all requests of the connection.
    #[must_use]
    pub fn identify(mut self, identify: impl Fn(&ServerConnection) -> Extensions + Send + Sync + 'static) -> Self {
        self.identify = Some(Arc::new(identify));
        self
    }

    pub(crate) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        self.acceptor.accept(stream).await
    }

    pub(crate) fn extensions(&self, connection: &ServerConnection) -> Extensions {
        self.identify.as_ref().map_or_else(Extensions::new, |identify| identify(connection))
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

/// Whether the first byte of a connection is one of an HTTP request.
pub(crate) async fn is_plain_http(
    stream: &TcpStream,
    phases: &Phases,
    draining: &CancellationToken,
) -> io::Result<bool> {
    let mut first = [0];
    tokio::select! {
        biased;
        () = draining.cancelled() => Err(io::ErrorKind::ConnectionAborted.into()),
        read = stream.peek(&mut first) => Ok(read? == 1 && first[0].is_ascii_uppercase()),
        () = phases.exceeded() => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// Responds to a client that sends plain HTTP.
pub(crate) async fn reject_plain_http<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S) -> io::Result<()> {
    stream.write_all(PLAIN_HTTP).await?;
    stream.shutdown().await
}
