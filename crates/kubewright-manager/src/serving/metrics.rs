//! The metrics endpoint: Prometheus text of a registry, with the metrics of the process.

mod process;

use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{HeaderValue, Request, Response, StatusCode, header::CONTENT_TYPE};
use kubewright_runtime::metrics::Metrics;
use prometheus_client::{encoding::text, registry::Registry};

use super::handler::{self, Handler};

pub use process::ProcessCollector;

/// Responds with the metrics of a registry and of the process, in the OpenMetrics text format.
///
/// The metrics of the process have the conventional names, such as `process_cpu_seconds_total`; see
/// [`ProcessCollector`].
#[derive(Clone, Debug)]
pub struct MetricsHandler(Arc<Registry>);

impl MetricsHandler {
    /// Creates the handler of a registry and adds the metrics of the process to it.
    #[must_use]
    pub fn new(mut registry: Registry) -> Self {
        registry.register_collector(Box::new(ProcessCollector::new()));
        MetricsHandler(Arc::new(registry))
    }

    fn respond(&self) -> Response<Bytes> {
        let mut text = String::new();
        if let Err(error) = text::encode(&mut text, &self.0) {
            tracing::error!(%error, "the metrics cannot be encoded");
            return handler::text(StatusCode::INTERNAL_SERVER_ERROR, "the metrics cannot be encoded\n");
        }
        let mut response = Response::new(text.into());
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(Metrics::CONTENT_TYPE));
        response
    }
}

impl From<Metrics> for MetricsHandler {
    fn from(metrics: Metrics) -> Self {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(metrics));
        Self::new(registry)
    }
}

impl Handler for MetricsHandler {
    fn handle(&self, _: Request<Bytes>) -> BoxFuture<'_, Response<Bytes>> {
        Box::pin(async { self.respond() })
    }
}
