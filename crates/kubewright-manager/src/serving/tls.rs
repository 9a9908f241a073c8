//! TLS of servers: TLS 1.2 and later on rustls with ring, and HTTP/1.1 only.

use std::sync::Arc;

use rustls::{ServerConfig, crypto::ring};
use tokio_rustls::TlsAcceptor;

use super::certificates::Certificates;

/// The only protocol of the servers.
const ALPN: &[u8] = b"http/1.1";

/// An error of the TLS library.
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub struct TlsError(#[from] rustls::Error);

/// Creates the acceptor of connections with these certificates, whichever are in use at each handshake. Depends on no
/// process-wide provider.
pub(super) fn acceptor(certificates: &Certificates) -> Result<TlsAcceptor, TlsError> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(certificates.clone()));
    config.alpn_protocols = vec![ALPN.to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
