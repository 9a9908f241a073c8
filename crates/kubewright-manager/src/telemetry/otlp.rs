//! The export of traces to an OpenTelemetry collector, over OTLP/HTTP.

mod collector;

use std::{collections::BTreeMap, env, fmt, io, time::Duration};

use http::{HeaderName, HeaderValue, Uri};
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{
    ExporterBuildError, OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, Protocol, SpanExporter,
    WithExportConfig, WithHttpConfig,
};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkError,
    trace::{BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracerProvider},
};
use tokio::{
    runtime::Handle,
    task::{JoinError, spawn_blocking},
};
use tracing_subscriber::{Layer, Registry};

use super::{BoxedLayer, DEFAULT_FILTER, TelemetryError, TelemetryGuard, parse_filter};
use collector::Collector;

/// The default of OpenTelemetry.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The default of OpenTelemetry.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);
/// The path of traces below the endpoint of a collector.
const TRACES_PATH: &str = "/v1/traces";
/// Excludes the log of the exporter itself, which would cause further exports.
const EXCLUDED: &str = "opentelemetry=off";

/// The export of traces to an OpenTelemetry collector, over OTLP/HTTP with Protobuf bodies.
///
/// Guarantees:
/// - spans are exported in batches by a dedicated thread, which ends with the [guard](super::TelemetryGuard). The end
///   of a span never waits;
/// - the queue is bounded: spans that do not fit are dropped, and their number is logged;
/// - an export is retried, and fails after the [timeout](Self::timeout). Failures are logged, and are no errors of the
///   program;
/// - the remaining spans are exported when the guard is shut down, within 5 s and the
///   [flush timeout](Self::flush_timeout);
/// - values of headers are not logged.
///
/// What is not configured has the value of the environment variable of OpenTelemetry, such as
/// `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER` and `OTEL_BSP_SCHEDULE_DELAY`, or
/// its default.
///
/// ```no_run
/// use kubewright_manager::telemetry::{OtlpConfig, Telemetry};
///
/// # fn example() -> Result<(), kubewright_manager::telemetry::TelemetryError> {
/// let export = OtlpConfig::new("my-operator").endpoint("http://collector:4318").sample_ratio(0.1);
/// let telemetry = Telemetry::new().otlp(export).install()?;
/// # drop(telemetry);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "it does nothing until it is passed to `Telemetry::otlp`"]
pub struct OtlpConfig {
    service_name: String,
    endpoint: Option<String>,
    headers: BTreeMap<String, String>,
    filter: String,
    sample_ratio: Option<f64>,
    max_queue_size: Option<usize>,
    export_interval: Option<Duration>,
    timeout: Duration,
    flush_timeout: Duration,
}

/// Traces that cannot be exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OtlpError {
    /// There is no runtime for the requests.
    #[error("cannot export traces outside a tokio runtime: install the telemetry within `main` of the runtime")]
    NoRuntime,
    /// The endpoint is not a URL.
    #[error("invalid endpoint of the collector: expected a URL such as `http://collector:4318`")]
    InvalidEndpoint,
    /// A header is invalid. Its value can be a secret.
    #[error("invalid header `{name}` of the export: expected a name and a value of visible ASCII characters")]
    InvalidHeader {
        /// The name.
        name: String,
    },
    /// The certificates of the system, which verify the collector, cannot be read.
    #[error("cannot verify the collector: {0}")]
    Roots(io::Error),
    /// TLS cannot be configured.
    #[error("cannot configure TLS for the collector: {0}")]
    Tls(rustls::Error),
    /// The exporter cannot be created.
    #[error("cannot create the exporter of traces: {0}")]
    Exporter(ExporterBuildError),
    /// The remaining spans were not exported.
    #[error("the remaining traces were not exported: {0}")]
    Flush(OTelSdkError),
    /// The export of the remaining spans panicked.
    #[error("the remaining traces were not exported: {0}")]
    FlushPanicked(JoinError),
}

impl OtlpConfig {
    /// Creates the configuration of a program whose resource attribute `service.name` is this one.
    pub fn new(service_name: impl Into<String>) -> Self {
        OtlpConfig {
            service_name: service_name.into(),
            endpoint: None,
            headers: BTreeMap::new(),
            filter: DEFAULT_FILTER.to_owned(),
            sample_ratio: None,
            max_queue_size: None,
            export_interval: None,
            timeout: TIMEOUT,
            flush_timeout: FLUSH_TIMEOUT,
        }
    }

    /// Sets the URL of the collector, such as `http://collector:4318`. By default it is that of
    /// `OTEL_EXPORTER_OTLP_ENDPOINT`, or `http://localhost:4318`. With `https`, the certificates of the system verify
    /// the collector.
    pub fn endpoint(mut self, endpoint: impl Into<String>) -> Self {
        self.endpoint = Some(endpoint.into());
        self
    }

    /// Adds a header to the requests, such as a token.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// Sets the filter of the exported spans and events; `info` by default. It is independent of that of the log. With
    /// `info,kube_client=debug`, the requests of kube's clients are spans.
    pub fn filter(mut self, directives: impl Into<String>) -> Self {
        self.filter = directives.into();
        self
    }

    /// Sets the ratio of traces that are exported, from 0 to 1. All are by default.
    pub fn sample_ratio(mut self, ratio: f64) -> Self {
        self.sample_ratio = Some(ratio);
        self
    }

    /// Sets the maximum number of spans that wait for the export; 2048 by default.
    pub fn max_queue_size(mut self, size: usize) -> Self {
        self.max_queue_size = Some(size.max(1));
        self
    }

    /// Sets how long spans wait for a complete batch; 5 s by default.
    pub fn export_interval(mut self, interval: Duration) -> Self {
        self.export_interval = Some(interval);
        self
    }

    /// Sets how long an export can take, with its retries; 10 s by default.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how long the end of the export can take when the process stops; 5 s by default.
    pub fn flush_timeout(mut self, timeout: Duration) -> Self {
        self.flush_timeout = timeout;
        self
    }

    /// Creates the layer that exports spans, and the guard that exports the remaining ones.
    pub(super) fn build(self) -> Result<(BoxedLayer, TelemetryGuard), TelemetryError> {
        let filter = parse_filter(&format!("{},{EXCLUDED}", self.filter))?;
        let provider = self.provider()?;
        let layer = tracing_opentelemetry::layer::<Registry>().with_tracer(provider.tracer("kubewright-manager"));
        let flush_timeout = self.flush_timeout;
        let shutdown = async move { shut_down(provider, flush_timeout).await.map_err(TelemetryError::from) };
        Ok((layer.with_filter(filter).boxed(), TelemetryGuard::new(shutdown)))
    }

    fn provider(&self) -> Result<SdkTracerProvider, OtlpError> {
        let mut batches = BatchConfigBuilder::default();
        if let Some(size) = self.max_queue_size {
            batches = batches.with_max_queue_size(size);
        }
        if let Some(interval) = self.export_interval {
            batches = batches.with_scheduled_delay(interval);
        }
        let processor = BatchSpanProcessor::builder(self.exporter()?).with_batch_config(batches.build()).build();
        let resource = Resource::builder().with_service_name(self.service_name.clone()).build();
        let mut provider = SdkTracerProvider::builder().with_span_processor(processor).with_resource(resource);
        if let Some(ratio) = self.sample_ratio {
            provider = provider.with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(ratio))));
        }
        Ok(provider.build())
    }

    fn exporter(&self) -> Result<SpanExporter, OtlpError> {
        self.validate_headers()?;
        let runtime = Handle::try_current().map_err(|_| OtlpError::NoRuntime)?;
        let endpoint = self.traces_endpoint()?;
        let collector = Collector::new(runtime, self.timeout, uses_tls(endpoint.as_deref()))?;
        let mut exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(collector)
            .with_protocol(Protocol::HttpBinary)
            .with_headers(self.headers.clone().into_iter().collect())
            .with_timeout(self.timeout);
        if let Some(endpoint) = endpoint {
            exporter = exporter.with_endpoint(endpoint);
        }
        exporter.build().map_err(OtlpError::Exporter)
    }

    /// Returns the URL of the requests, if an endpoint is configured.
    fn traces_endpoint(&self) -> Result<Option<String>, OtlpError> {
        let Some(endpoint) = &self.endpoint else { return Ok(None) };
        let uri: Uri = endpoint.parse().map_err(|_| OtlpError::InvalidEndpoint)?;
        match uri.scheme_str() {
            Some("http" | "https") => Ok(Some(format!("{}{TRACES_PATH}", endpoint.trim_end_matches('/')))),
            _ => Err(OtlpError::InvalidEndpoint),
        }
    }

    fn validate_headers(&self) -> Result<(), OtlpError> {
        let is_invalid = |(name, value): &(&String, &String)| {
            name.parse::<HeaderName>().is_err() || value.parse::<HeaderValue>().is_err()
        };
        match self.headers.iter().find(is_invalid) {
            Some((name, _)) => Err(OtlpError::InvalidHeader { name: name.clone() }),
            None => Ok(()),
        }
    }
}

/// Returns whether an endpoint, or that of the environment, is an HTTPS URL.
fn uses_tls(endpoint: Option<&str>) -> bool {
    let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let endpoint = endpoint.map(str::to_owned);
    let endpoint = endpoint.or_else(|| variable(OTEL_EXPORTER_OTLP_TRACES_ENDPOINT));
    endpoint.or_else(|| variable(OTEL_EXPORTER_OTLP_ENDPOINT)).is_some_and(|url| url.starts_with("https:"))
}

/// Exports the remaining spans. The provider blocks its thread until then, while the runtime sends the requests.
async fn shut_down(provider: SdkTracerProvider, timeout: Duration) -> Result<(), OtlpError> {
    let flush = move || {
        // The result of the shutdown does not contain that of its export.
        let flushed = provider.force_flush();
        flushed.and(provider.shutdown_with_timeout(timeout))
    };
    spawn_blocking(flush).await.map_err(OtlpError::FlushPanicked)?.map_err(OtlpError::Flush)
}

impl fmt::Debug for OtlpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OtlpConfig")
            .field("service_name", &self.service_name)
            .field("headers", &self.headers.keys())
            .field("filter", &self.filter)
            .field("sample_ratio", &self.sample_ratio)
            .finish_non_exhaustive()
    }
}
