//! The HTTPS client of webhooks: it connects to a URL, or to an endpoint of a service.
//!
//! Guarantees:
//! - The certificate of a webhook is verified with its `caBundle`, which has the certificates of authorities or that of
//!   the webhook, or with the certificates of the system.
//! - Each call has a connection, which ends with it. A call that is cancelled, for example by its timeout, closes it.
//! - A response has at most 32 MiB.

mod endpoints;
mod verifier;

use std::{io, net::SocketAddr, pin::pin, sync::Arc};

use bytes::Bytes;
use http::{
    HeaderValue, Request, Response, Uri,
    header::{ACCEPT, HOST, USER_AGENT},
    uri::Authority,
};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::{
    CertificateError, ClientConfig, Error as TlsError, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use tokio::net::{TcpStream, lookup_host};
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::{
    api::webhook::{WebhookRequest, WebhookResponse},
    server::api_server::ApiServer,
    storage::shared::SharedState,
};

const HTTPS: u16 = 443;
/// The maximum size of a response.
const MAX_RESPONSE_BYTES: usize = 32 << 20;
/// The client that kube-apiserver names.
const CLIENT: &str = "kube-apiserver-admission";

/// Calls the webhooks of a server over HTTPS: the admission webhooks of the stored `MutatingWebhookConfiguration`s and
/// `ValidatingWebhookConfiguration`s, and the conversion webhooks of definitions. The address of a webhook is its URL,
/// or the address of a ready endpoint in the EndpointSlices, or else the Endpoints, of its service.
///
/// A later [`ApiServer::call_webhooks`] replaces the client.
pub fn call_webhooks(server: &ApiServer) {
    let shared = server.shared();
    let call = move |request: WebhookRequest| -> WebhookResponse { Box::pin(call(Arc::clone(&shared), request)) };
    server.set_webhook_client(Arc::new(call));
}

/// Sends a request. The error is the reason why there is no response, as Go words it.
async fn call(shared: Arc<SharedState>, request: WebhookRequest) -> Result<Response<Bytes>, String> {
    let WebhookRequest { http, config } = request;
    let authority = http.uri().authority().cloned().ok_or("http: no Host in request URL")?;
    let addresses = match &config.service {
        Some(service) => vec![endpoints::resolve(&shared.lock(), service)?],
        None => resolve(&authority).await?,
    };
    let tls = client_config(&config.ca_bundle)?;
    let stream = connect(&addresses).await?;
    let stream = handshake(stream, tls, authority.host()).await?;
    exchange(stream, http, &authority).await
}

/// Returns the addresses of a host.
async fn resolve(authority: &Authority) -> Result<Vec<SocketAddr>, String> {
    let (host, port) = (bare(authority.host()), authority.port_u16().unwrap_or(HTTPS));
    let addresses = lookup_host((host, port)).await.map(Vec::from_iter).unwrap_or_default();
    if addresses.is_empty() { Err(format!("dial tcp: lookup {host}: no such host")) } else { Ok(addresses) }
}

/// Returns a host without the brackets of an IPv6 address.
fn bare(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

/// Connects to the first address that accepts a connection.
async fn connect(addresses: &[SocketAddr]) -> Result<TcpStream, String> {
    let mut failure = String::new();
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = format!("dial tcp {address}: connect: {}", describe(&error)),
        }
    }
    Err(failure)
}

/// Returns the configuration of TLS with these trusted certificates.
fn client_config(ca_bundle: &[u8]) -> Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
    let builder = if ca_bundle.is_empty() {
        let mut trusted = RootCertStore::empty();
        trusted.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        builder.with_root_certificates(trusted)
    } else {
        let unparsable = |_| "unable to load root certificates: unable to parse bytes as PEM block".to_owned();
        let trusted: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(ca_bundle).collect();
        let verifier = verifier::Verifier::new(trusted.map_err(|error| unparsable(error.to_string()))?, provider);
        builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier.map_err(unparsable)?))
    };
    Ok(Arc::new(builder.with_no_client_auth()))
}

async fn handshake(stream: TcpStream, tls: Arc<ClientConfig>, host: &str) -> Result<TlsStream<TcpStream>, String> {
    let name = ServerName::try_from(bare(host).to_owned()).map_err(|error| error.to_string())?;
    TlsConnector::from(tls).connect(name, stream).await.map_err(|error| describe(&error))
}

/// Sends a request on a connection and receives the response.
async fn exchange(
    stream: TlsStream<TcpStream>,
    request: Request<Bytes>,
    authority: &Authority,
) -> Result<Response<Bytes>, String> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| failure(&error))?;
    let request = in_origin_form(request, authority)?;
    let mut connection = pin!(connection);
    let response = async {
        let response = sender.send_request(request).await.map_err(|error| failure(&error))?;
        let (parts, body) = response.into_parts();
        match Limited::new(body, MAX_RESPONSE_BYTES).collect().await {
            Ok(body) => Ok(Response::from_parts(parts, body.to_bytes())),
            Err(error) if error.is::<LengthLimitError>() => {
                Err(format!("the response has more than {MAX_RESPONSE_BYTES} bytes"))
            }
            Err(_) => {
                let error = "unexpected error when reading response body. Please retry. Original error: unexpected EOF";
                Err(error.to_owned())
            }
        }
    };
    let mut response = pin!(response);
    tokio::select! {
        biased;
        response = &mut response => response,
        // What was received remains to be read.
        _ = &mut connection => response.await,
    }
}

/// Returns a request with the path of its URL, and the host in a header.
fn in_origin_form(request: Request<Bytes>, authority: &Authority) -> Result<Request<Full<Bytes>>, String> {
    let (mut parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    parts.uri = path.parse::<Uri>().map_err(|error| error.to_string())?;
    let host = HeaderValue::from_str(authority.as_str()).map_err(|error| error.to_string())?;
    parts.headers.insert(HOST, host);
    parts.headers.insert(ACCEPT, HeaderValue::from_static("application/json, */*"));
    parts.headers.insert(USER_AGENT, HeaderValue::from_static(CLIENT));
    Ok(Request::from_parts(parts, Full::new(body)))
}

/// Describes a failure of an exchange, which is mostly a closed connection.
fn failure(error: &hyper::Error) -> String {
    if error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
        return "EOF".to_owned();
    }
    error.to_string()
}

/// Describes an error of a socket or of TLS.
fn describe(error: &io::Error) -> String {
    let tls = error.get_ref().and_then(|source| source.downcast_ref::<TlsError>());
    if let Some(TlsError::InvalidCertificate(reason)) = tls {
        let reason = match reason {
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                "certificate signed by unknown authority".to_owned()
            }
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => "certificate has expired or is not yet valid".to_owned(),
            other => other.to_string(),
        };
        return format!("tls: failed to verify certificate: x509: {reason}");
    }
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        io::ErrorKind::ConnectionReset => "connection reset by peer".to_owned(),
        io::ErrorKind::UnexpectedEof => "EOF".to_owned(),
        _ => error.to_string(),
    }
}
