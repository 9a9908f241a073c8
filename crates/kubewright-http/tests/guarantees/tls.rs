//! TLS: certificates that are replaced, and what a service needs of those of clients.

use std::sync::{Arc, Mutex};

use http::Extensions;
use kubewright_http::Tls;
use rcgen::{CertificateParams, KeyPair};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName},
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::fixture::{Running, limits, soon};

/// A certificate that a test replaces.
#[derive(Debug)]
struct Replaceable(Mutex<Arc<CertifiedKey>>);

impl ResolvesServerCert for Replaceable {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0.lock().unwrap()))
    }
}

/// Returns a new certificate of `localhost`.
fn certificate() -> (CertificateDer<'static>, Arc<CertifiedKey>) {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
    let chain = vec![certificate.der().clone()];
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let key = CertifiedKey::from_der(chain, key, &ring::default_provider()).unwrap();
    (certificate.der().clone(), Arc::new(key))
}

fn start(certificates: Arc<Replaceable>) -> Running {
    let tls = Tls::new(certificates).unwrap().identify(|connection| {
        let mut extensions = Extensions::new();
        extensions.insert(connection.peer_certificates().map(<[_]>::len));
        extensions
    });
    Running::start_with(|server| server.limits(limits()).tls(tls))
}

async fn connect(running: &Running, trusted: &CertificateDer<'static>) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = running.connect().await.0;
    soon(TlsConnector::from(Arc::new(config)).connect(ServerName::try_from("localhost").unwrap(), stream)).await
}

async fn get(stream: &mut TlsStream<TcpStream>) -> String {
    stream.write_all(b"GET /peer HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    let mut text = Vec::new();
    while !text.ends_with(b"}") {
        assert_ne!(soon(stream.read_buf(&mut text)).await.unwrap(), 0);
    }
    String::from_utf8(text).unwrap()
}

#[tokio::test]
async fn a_new_certificate_is_used_from_the_next_handshake_on_and_connections_remain() {
    let ((first, first_key), (second, second_key)) = (certificate(), certificate());
    let certificates = Arc::new(Replaceable(Mutex::new(first_key)));
    let running = start(Arc::clone(&certificates));
    let mut open = connect(&running, &first).await.unwrap();
    assert!(get(&mut open).await.contains("has_tls: true"));
    *certificates.0.lock().unwrap() = second_key;
    assert!(connect(&running, &first).await.is_err());
    assert!(get(&mut connect(&running, &second).await.unwrap()).await.starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(get(&mut open).await.starts_with("HTTP/1.1 200 OK\r\n"));
}

#[tokio::test]
async fn plain_http_is_answered_with_the_reason() {
    let running = start(Arc::new(Replaceable(Mutex::new(certificate().1))));
    let response = running.get("/peer").await;
    assert!(response.starts_with("HTTP/1.0 400 Bad Request\r\n"), "{response}");
    assert!(response.ends_with("Client sent an HTTP request to an HTTPS server.\n"), "{response}");
}
