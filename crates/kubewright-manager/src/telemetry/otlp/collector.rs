//! The HTTP client of the exporter. The thread of the exporter uses it, and the runtime of the program its sockets.

use std::{future::poll_fn, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use opentelemetry_http::{HttpClient, HttpError};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use tokio::{runtime::Handle, time::timeout};

use super::OtlpError;

/// The maximum size of a response, which contains an error at most.
const MAX_RESPONSE_SIZE: usize = 1 << 20;

/// A client of a collector.
#[derive(Debug)]
pub(super) struct Collector {
    runtime: Handle,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    timeout: Duration,
}

impl Collector {
    /// Creates a client whose sockets belong to this runtime.
    pub(super) fn new(runtime: Handle, timeout: Duration, uses_tls: bool) -> Result<Self, OtlpError> {
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls_config(uses_tls)?);
        let connector = connector.https_or_http().enable_http1().build();
        Ok(Collector { runtime, client: Client::builder(TokioExecutor::new()).build(connector), timeout })
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        timeout(self.timeout, self.exchange(request)).await?
    }

    async fn exchange(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = self.client.request(request.map(Full::new)).await?.into_parts();
        let body = Limited::new(body, MAX_RESPONSE_SIZE).collect().await?.to_bytes();
        Ok(Response::from_parts(parts, body))
    }
}

impl HttpClient for Collector {
    fn send_bytes<'a, 'b>(&'a self, request: Request<Bytes>) -> BoxFuture<'b, Result<Response<Bytes>, HttpError>>
    where
        'a: 'b,
        Self: 'b,
    {
        let mut response = Box::pin(self.send(request));
        // The thread of the exporter is not one of the runtime.
        Box::pin(poll_fn(move |context| {
            let _runtime = self.runtime.enter();
            response.as_mut().poll(context)
        }))
    }
}

/// Returns the configuration of TLS. Without TLS, the certificates of the system need not be readable.
fn tls_config(uses_tls: bool) -> Result<ClientConfig, OtlpError> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(OtlpError::Tls)?;
    let builder = match uses_tls {
        true => builder.with_native_roots().map_err(OtlpError::Roots)?,
        false => builder.with_root_certificates(RootCertStore::empty()),
    };
    Ok(builder.with_no_client_auth())
}
