//! TLS of a server: its certificate, and the certificates of clients.
//!
//! Guarantees:
//! - A client certificate is requested but not required. One that is invalid does not fail the handshake: the requests
//!   of the connection are rejected with code 401, as by kube-apiserver.
//! - The client has the private key of its certificate.

use std::{fmt, fs, path::Path, sync::Arc};

use http::Extensions;
use jiff::Timestamp;
use rustls::{
    DigitallySignedStruct, DistinguishedName, Error, RootCertStore, ServerConnection, SignatureScheme,
    client::danger::HandshakeSignatureValid,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, UnixTime, pem::PemObject},
    server::{
        WebPkiClientVerifier,
        danger::{ClientCertVerified, ClientCertVerifier},
    },
    sign::{CertifiedKey, SingleCertAndKey},
};
use x509_parser::{certificate::X509Certificate, prelude::FromDer};

use crate::{authentication::client_certificate::ClientCertificate, server::serve::TlsError};

/// A certificate chain and its private key, as PEM.
#[derive(Clone)]
pub struct PemPair {
    /// The certificate, followed by those of its issuers.
    pub certificate: String,
    /// The private key.
    pub key: String,
}

impl PemPair {
    /// Reads the files of a certificate chain and of its key.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let read = |path: &Path| fs::read_to_string(path).map_err(|error| TlsError::read(path, &error));
        Ok(Self { certificate: read(certificate)?, key: read(key)? })
    }
}

/// Without the key.
impl fmt::Debug for PemPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PemPair").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}

/// TLS of a server, for [`serve_tls`](super::serve_tls). TLS 1.2 and later, with rustls and ring.
#[derive(Clone, Debug)]
pub struct Tls(pub(super) kubewright_http::Tls);

impl Tls {
    /// Creates the TLS of a server with this certificate, and with clients whose certificates these authorities issue:
    /// each text has at least one certificate as PEM.
    ///
    /// # Errors
    /// A certificate or the key cannot be parsed, or the key is that of another certificate.
    pub fn new(serving: &PemPair, client_authorities: &[&str]) -> Result<Self, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let mut trusted = RootCertStore::empty();
        for certificate in certificates(client_authorities, "client CA")? {
            trusted.add(certificate).map_err(|error| TlsError::invalid("client CA", error))?;
        }
        let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(trusted), Arc::clone(&provider)).build();
        let clients = clients.map_err(|error| TlsError::invalid("client CA", error))?;
        let chain = certificates(&[&serving.certificate], "serving certificate")?;
        let key = PrivateKeyDer::from_pem_slice(serving.key.as_bytes());
        // The error of the parser can contain a part of the key.
        let key = key.map_err(|_| TlsError::invalid("serving key", "it contains no section `PRIVATE KEY`"))?;
        let invalid = |error| TlsError::invalid("serving certificate", error);
        let key = CertifiedKey::from_der(chain, key, &provider).map_err(invalid)?;
        let verifier = Arc::new(AnyCertificate { trusted: Arc::clone(&clients) });
        let tls = kubewright_http::Tls::with_client_verifier(Arc::new(SingleCertAndKey::from(key)), verifier);
        let tls = tls.map_err(|error| TlsError::invalid("TLS configuration", error))?;
        Ok(Self(tls.identify(move |connection| {
            let mut extensions = Extensions::new();
            client_certificate(&*clients, connection).map(|certificate| extensions.insert(certificate));
            extensions
        })))
    }
}

/// Returns the certificate of the client of a connection, if it has one with a name.
fn client_certificate(clients: &dyn ClientCertVerifier, connection: &ServerConnection) -> Option<ClientCertificate> {
    let (certificate, intermediates) = connection.peer_certificates()?.split_first()?;
    if clients.verify_client_cert(certificate, intermediates, UnixTime::now()).is_err() {
        return Some(ClientCertificate::Invalid);
    }
    let Ok((_, parsed)) = X509Certificate::from_der(certificate) else { return Some(ClientCertificate::Invalid) };
    let Ok(not_after) = Timestamp::from_second(parsed.validity().not_after.timestamp()) else {
        return Some(ClientCertificate::Invalid);
    };
    let name = parsed.subject().iter_common_name().filter_map(|name| name.as_str().ok()).last()?;
    let organizations = parsed.subject().iter_organization().filter_map(|name| name.as_str().ok());
    let organizations = organizations.map(str::to_owned).collect();
    let user = ClientCertificate::user(name, organizations, certificate);
    Some(ClientCertificate::Valid { user: Arc::new(user), not_after })
}

/// Parses certificates; `what` is their name in errors.
fn certificates(texts: &[&str], what: &'static str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let mut certificates = Vec::new();
    for text in texts {
        let parsed: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
        let parsed = parsed.map_err(|error| TlsError::invalid(what, error))?;
        if parsed.is_empty() {
            return Err(TlsError::invalid(what, "it contains no section `CERTIFICATE`"));
        }
        certificates.extend(parsed);
    }
    Ok(certificates)
}

/// Requests a certificate, and accepts any whose key the client has: its issuer is verified after the handshake.
#[derive(Debug)]
struct AnyCertificate {
    trusted: Arc<dyn ClientCertVerifier>,
}

impl ClientCertVerifier for AnyCertificate {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.trusted.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.trusted.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.trusted.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.trusted.supported_verify_schemes()
    }
}
