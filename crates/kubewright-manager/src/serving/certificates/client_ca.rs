//! The authorities of the certificates of clients.

use std::{fmt, path::Path, sync::Arc};

use http::Extensions;
use rustls::{
    RootCertStore, ServerConnection,
    crypto::ring,
    server::{WebPkiClientVerifier, danger::ClientCertVerifier},
};

use super::{CertificateError, files, pair};

/// The authorities of the certificates of clients, such as that of the API server: see
/// [`ServerConfig::client_ca`](crate::serving::ServerConfig::client_ca).
#[derive(Clone)]
pub struct ClientCa(Arc<dyn ClientCertVerifier>);

/// An extension of the requests whose client has a certificate of the [`ClientCa`] of the server.
#[derive(Clone, Copy, Debug)]
pub struct ClientCertificate;

impl ClientCa {
    /// Reads one or several certificates in PEM format, such as `ca.crt`. The file is read once.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or contains no certificate of an authority.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, CertificateError> {
        let path = path.as_ref();
        let pem = files::read(files::CERTIFICATE, path)?;
        let parse_error = |reason| files::parse_error(files::CERTIFICATE, path, reason);
        let mut roots = RootCertStore::empty();
        for certificate in pair::certificates(&pem).map_err(parse_error)? {
            roots.add(certificate).map_err(|error| parse_error(error.to_string()))?;
        }
        // Not every path requires a certificate.
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::new(ring::default_provider()))
            .allow_unauthenticated()
            .build();
        verifier.map(ClientCa).map_err(|error| parse_error(error.to_string()))
    }

    pub(in crate::serving) fn verifier(&self) -> Arc<dyn ClientCertVerifier> {
        Arc::clone(&self.0)
    }
}

/// Returns the extensions of the requests of a connection.
pub(in crate::serving) fn extensions(connection: &ServerConnection) -> Extensions {
    let mut extensions = Extensions::new();
    if connection.peer_certificates().is_some() {
        extensions.insert(ClientCertificate);
    }
    extensions
}

impl fmt::Debug for ClientCa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCa").field("subjects", &self.0.root_hint_subjects().len()).finish_non_exhaustive()
    }
}
