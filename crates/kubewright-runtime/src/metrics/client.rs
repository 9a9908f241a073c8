//! Metrics of the requests of a client, under the names of client-go: a tower layer, and a client that uses it.

use std::{
    fmt,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering},
    },
    task::{Context, Poll},
};

use http::{Method, Request, Response};
use kube::{
    Client, Config,
    client::{Body, ClientBuilder},
};
use tokio::time::Instant;
use tower::{
    Layer, Service,
    buffer::BufferLayer,
    util::{MapRequestLayer, option_layer},
};

use super::{Labels, Metric, Metrics};
use crate::retry::{apply_no_proxy, take_retry};

const REQUESTS: Metric = Metric {
    name: "rest_client_requests_total",
    help: "Number of HTTP requests, partitioned by status code, method, and host.",
};
const DURATION: Metric = Metric {
    name: "rest_client_request_duration_seconds",
    help: "Request latency in seconds. Broken down by verb, and host.",
};
const RETRIES: Metric = Metric {
    name: "rest_client_request_retries_total",
    help: "Number of request retries, partitioned by status code, verb, and host.",
};

/// The buckets of component-base.
const DURATION_BUCKETS: [f64; 12] = [0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0];

/// The code of a request without a response, as in client-go.
const NO_RESPONSE: &str = "<error>";

/// The capacity of the buffer below the retries: that of kube's own buffer.
const BUFFER: usize = 1024;

/// Creates a client whose requests are measured, and otherwise is that of
/// [`client_from_config`](crate::retry::client_from_config), with its retries.
///
/// Each attempt is counted in `rest_client_requests_total`, as in client-go, and each further attempt of a request in
/// `rest_client_request_retries_total`, with the code of the attempt before.
///
/// # Errors
/// Fails if the configuration is invalid, as for any client.
///
/// # Panics
/// Panics outside a tokio runtime, as for any client.
pub fn client_with_metrics(mut config: Config, metrics: Metrics) -> Result<Client, kube::Error> {
    let layer = ClientMetricsLayer::new(&config, metrics);
    apply_no_proxy(&mut config);
    let retry = take_retry(&mut config);
    let builder = ClientBuilder::try_from(config)?
        .with_layer(&layer)
        .with_layer(&BufferLayer::<Request<Body>>::new(BUFFER))
        .with_layer(&option_layer(retry))
        .with_layer(&MapRequestLayer::new(with_attempts::<Body>));
    Ok(builder.build())
}

/// Marks a request whose attempts are counted.
fn with_attempts<B>(mut request: Request<B>) -> Request<B> {
    request.extensions_mut().insert(Attempts::default());
    request
}

/// Shared by all attempts of a request: the code of the last one; 0 before the first.
#[derive(Clone, Default)]
struct Attempts(Arc<AtomicU16>);

/// Measures the requests of a kube client, as a layer of [`ClientBuilder::with_layer`].
///
/// Metrics:
/// - `rest_client_requests_total{code,method,host}`: the code is `<error>` for a request without a response;
/// - `rest_client_request_duration_seconds{verb,host}`: until the headers of the response are received.
///
/// A layer of a kube client is above kube's retries, so that a retried request is one request. [`client_with_metrics`]
/// creates a client that counts every attempt.
#[derive(Clone, Debug)]
pub struct ClientMetricsLayer {
    metrics: Metrics,
    host: Arc<str>,
}

impl ClientMetricsLayer {
    /// Creates the layer of a client with this configuration.
    #[must_use]
    pub fn new(config: &Config, metrics: Metrics) -> Self {
        let host = config.cluster_url.authority().map_or("", |authority| authority.as_str());
        // An authority can contain credentials.
        Self::with_host(host.rsplit('@').next().unwrap_or_default(), metrics)
    }

    /// Creates a layer with this value of the label `host`, for clients that are not created from a configuration.
    #[must_use]
    pub fn with_host(host: impl Into<String>, metrics: Metrics) -> Self {
        ClientMetricsLayer { metrics, host: host.into().into() }
    }

    fn record(&self, method: &Method, code: Option<u16>, started: Instant) {
        let (method, host) = (method.as_str(), &*self.host);
        let code = label(code);
        self.metrics.counter(REQUESTS, &[("code", &code), ("method", method), ("host", host)]).inc();
        let labels: Labels<'_> = &[("verb", method), ("host", host)];
        self.metrics.histogram(DURATION, labels, &DURATION_BUCKETS).observe(started.elapsed().as_secs_f64());
    }

    fn record_retry(&self, method: &Method, code: u16) {
        let code = label(Some(code));
        let labels: Labels<'_> = &[("code", &code), ("verb", method.as_str()), ("host", &self.host)];
        self.metrics.counter(RETRIES, labels).inc();
    }
}

fn label(code: Option<u16>) -> String {
    code.map_or_else(|| NO_RESPONSE.to_owned(), |code| code.to_string())
}

impl<S> Layer<S> for ClientMetricsLayer {
    type Service = ClientMetricsService<S>;

    fn layer(&self, inner: S) -> ClientMetricsService<S> {
        ClientMetricsService { inner, layer: self.clone() }
    }
}

/// A service whose requests are measured: that of a [`ClientMetricsLayer`].
#[derive(Clone, Debug)]
pub struct ClientMetricsService<S> {
    inner: S,
    layer: ClientMetricsLayer,
}

impl<S, B, R> Service<Request<B>> for ClientMetricsService<S>
where
    S: Service<Request<B>, Response = Response<R>, Future: Send + 'static, Error: 'static>,
    R: 'static,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = ClientMetricsFuture<R, S::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (layer, method) = (self.layer.clone(), request.method().clone());
        let attempts = request.extensions().get::<Attempts>().cloned();
        if let Some(previous) = attempts.as_ref().map(|attempts| attempts.0.load(Ordering::Relaxed))
            && previous != 0
        {
            layer.record_retry(&method, previous);
        }
        let started = Instant::now();
        let response = self.inner.call(request);
        ClientMetricsFuture(Box::pin(async move {
            let result = response.await;
            let code = result.as_ref().ok().map(|response| response.status().as_u16());
            layer.record(&method, code, started);
            if let Some(attempts) = attempts {
                attempts.0.store(code.unwrap_or_default(), Ordering::Relaxed);
            }
            result
        }))
    }
}

/// The response of a measured request.
pub struct ClientMetricsFuture<R, E>(Pin<Box<dyn Future<Output = Result<Response<R>, E>> + Send>>);

impl<R, E> Future for ClientMetricsFuture<R, E> {
    type Output = Result<Response<R>, E>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(context)
    }
}

impl<R, E> fmt::Debug for ClientMetricsFuture<R, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientMetricsFuture").finish_non_exhaustive()
    }
}
