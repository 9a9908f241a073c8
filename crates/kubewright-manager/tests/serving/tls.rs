//! HTTPS: a client that verifies certificates, and the certificates of the tests.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use kubewright_manager::serving::{Certificates, ClientCa, ClientCertificate, Handler, Router, handler::text};
use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::{
    ClientConfig, ConfigBuilder, RootCertStore, SupportedProtocolVersion,
    client::WantsClientCert,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
    version::{TLS12, TLS13},
};
use tempfile::TempDir;
use tokio::{io::AsyncWriteExt, net::TcpStream};
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::fixture::{Client, Running, config, read_to_end, soon};

/// A certificate of `localhost` and its key, in PEM format.
pub(crate) struct Pem {
    pub(crate) der: CertificateDer<'static>,
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Pem {
    pub(crate) fn new() -> Self {
        Self::valid_for(Duration::from_secs(3600))
    }

    /// Creates a certificate that was valid from the year 2000 until a second ago.
    pub(crate) fn expired() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        Self::until(now - Duration::from_secs(1))
    }

    fn valid_for(duration: Duration) -> Self {
        Self::until(SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + duration)
    }

    /// Creates a certificate that is valid until this Unix time.
    fn until(end: Duration) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(1970, 1, 1) + end;
        let certificate = params.self_signed(&key).unwrap();
        Pem { der: certificate.der().clone(), certificate: certificate.pem(), key: key.serialize_pem() }
    }
}

/// The files of a certificate and its key, in a temporary directory.
pub(crate) struct PemFiles {
    _directory: TempDir,
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

impl PemFiles {
    pub(crate) fn new(pem: &Pem) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (certificate, key) = (directory.path().join("tls.crt"), directory.path().join("tls.key"));
        let files = PemFiles { _directory: directory, certificate, key };
        files.write(pem);
        files
    }

    pub(crate) fn write(&self, pem: &Pem) {
        std::fs::write(&self.certificate, &pem.certificate).unwrap();
        std::fs::write(&self.key, &pem.key).unwrap();
    }

    pub(crate) fn certificates(&self) -> Certificates {
        Certificates::from_files(&self.certificate, &self.key).unwrap().poll_interval(Duration::from_millis(10))
    }
}

fn client_config(
    trusted: &CertificateDer<'static>,
    versions: &[&'static SupportedProtocolVersion],
) -> ConfigBuilder<ClientConfig, WantsClientCert> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
}

fn connector(trusted: &CertificateDer<'static>, versions: &[&'static SupportedProtocolVersion]) -> TlsConnector {
    let mut config = client_config(trusted, versions).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    TlsConnector::from(Arc::new(config))
}

/// Returns a connector with the certificate of a client.
fn connector_of_client(trusted: &CertificateDer<'static>, client: &Pem) -> TlsConnector {
    let key = PrivateKeyDer::from_pem_slice(client.key.as_bytes()).unwrap();
    let config = client_config(trusted, rustls::ALL_VERSIONS).with_client_auth_cert(vec![client.der.clone()], key);
    TlsConnector::from(Arc::new(config.unwrap()))
}

async fn handshake(running: &Running, connector: TlsConnector) -> std::io::Result<TlsStream<TcpStream>> {
    let name = ServerName::try_from("localhost").unwrap();
    soon(connector.connect(name, running.connect().await)).await
}

/// Connects with a client that trusts one certificate.
pub(crate) async fn connect(
    running: &Running,
    trusted: &CertificateDer<'static>,
) -> std::io::Result<TlsStream<TcpStream>> {
    handshake(running, connector(trusted, rustls::ALL_VERSIONS)).await
}

#[tokio::test]
async fn requests_are_served_over_tls_1_2_and_1_3_with_http_1_1_only() {
    let certificates = Certificates::self_signed(["localhost"]).unwrap();
    let running = Running::start_tls(&certificates).await;
    for version in [&TLS12, &TLS13] {
        let stream = handshake(&running, connector(&certificates.chain()[0], &[version])).await.unwrap();
        assert_eq!(stream.get_ref().1.protocol_version(), Some(version.version));
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
        let mut client = Client::new(stream).await;
        assert_eq!(client.request(Method::POST, "/echo", "hello").await, (200, "hello".to_owned()));
    }
    running.stop().await.unwrap();
}

#[tokio::test]
async fn a_body_that_is_too_large_is_rejected_over_tls() {
    let certificates = Certificates::self_signed(["localhost"]).unwrap();
    let running = Running::start_tls(&certificates).await;
    let mut client = Client::new(connect(&running, &certificates.chain()[0]).await.unwrap()).await;
    assert_eq!(client.request(Method::POST, "/echo", vec![b'a'; (7 << 20) + 1]).await.0, 413);
}

#[tokio::test]
async fn a_failed_handshake_does_not_affect_other_connections() {
    let certificates = Certificates::self_signed(["localhost"]).unwrap();
    let running = Running::start_tls(&certificates).await;
    let mut plain = running.connect().await;
    let mut silent = running.connect().await;
    plain.write_all(b"GET /echo HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    assert!(connect(&running, &Pem::new().der).await.is_err(), "another certificate is not trusted");
    let mut client = Client::new(connect(&running, &certificates.chain()[0]).await.unwrap()).await;
    assert_eq!(client.get("/echo").await.0, 200);
    drop(client);
    running.stop().await.unwrap();
    assert_eq!(read_to_end(&mut silent).await, "");
}

/// An authority, and the certificate of a client that it signed.
struct Authority {
    files: PemFiles,
    client: Pem,
}

impl Authority {
    fn new() -> Self {
        let (key, mut params) = (KeyPair::generate().unwrap(), CertificateParams::default());
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        let certificate = params.self_signed(&key).unwrap();
        let (der, pem, key_pem) = (certificate.der().clone(), certificate.pem(), key.serialize_pem());
        let files = PemFiles::new(&Pem { der, certificate: pem, key: key_pem });
        let (client_key, mut client) = (KeyPair::generate().unwrap(), CertificateParams::default());
        client.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let signed = client.signed_by(&client_key, &Issuer::new(params, key)).unwrap();
        let (der, certificate) = (signed.der().clone(), signed.pem());
        Authority { files, client: Pem { der, certificate, key: client_key.serialize_pem() } }
    }
}

fn has_certificate() -> impl Handler {
    |request: Request<Bytes>| async move {
        text(StatusCode::OK, request.extensions().get::<ClientCertificate>().is_some().to_string())
    }
}

#[tokio::test]
async fn certificates_of_clients_are_verified() {
    let certificates = Certificates::self_signed(["localhost"]).unwrap();
    let trusted = certificates.chain()[0].clone();
    let authority = Authority::new();
    let config = config().client_ca(ClientCa::from_file(&authority.files.certificate).unwrap());
    let router = Router::new().get("/certificate", has_certificate());
    let running = Running::start_with(config, router, &certificates).await;
    for version in [&TLS12, &TLS13] {
        let anonymous = handshake(&running, connector(&trusted, &[version])).await.unwrap();
        assert_eq!(Client::new(anonymous).await.get("/certificate").await, (200, "false".to_owned()));
    }
    let known = handshake(&running, connector_of_client(&trusted, &authority.client)).await.unwrap();
    assert_eq!(Client::new(known).await.get("/certificate").await, (200, "true".to_owned()));
    // With TLS 1.3, the client sees the rejection of its certificate at its first read.
    let foreign = connector_of_client(&trusted, &Authority::new().client);
    if let Ok(stream) = handshake(&running, foreign).await {
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        let request = crate::fixture::request(Method::GET, "/certificate", "");
        let (response, _) = soon(async { tokio::join!(sender.send_request(request), connection) }).await;
        assert!(response.is_err(), "{response:?}");
    }
    running.stop().await.unwrap();
}

#[test]
fn a_file_without_an_authority_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ca.crt");
    let error = ClientCa::from_file(&path).unwrap_err().to_string();
    assert!(error.starts_with("cannot read the certificate `"), "{error}");
    std::fs::write(&path, "no certificate").unwrap();
    let error = ClientCa::from_file(&path).unwrap_err().to_string();
    assert!(error.ends_with("ca.crt`: it contains no section `CERTIFICATE` in PEM format"), "{error}");
}
