//! HTTPS: a client that verifies certificates, and the certificates of the tests.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use http::Method;
use kubewright_manager::serving::Certificates;
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::{
    ClientConfig, RootCertStore, SupportedProtocolVersion,
    crypto::ring,
    pki_types::{CertificateDer, ServerName},
    version::{TLS12, TLS13},
};
use tempfile::TempDir;
use tokio::{io::AsyncWriteExt, net::TcpStream};
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::fixture::{Client, Running, read_to_end, soon};

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

fn connector(trusted: &CertificateDer<'static>, versions: &[&'static SupportedProtocolVersion]) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    TlsConnector::from(Arc::new(config))
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
