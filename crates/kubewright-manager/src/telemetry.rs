//! Telemetry of a process: its log as text or JSON, and the export of traces to an OpenTelemetry collector.

mod error;
mod guard;
mod json;
mod log_format;
#[cfg(feature = "otlp")]
mod otlp;

use std::{
    env, fmt,
    io::{IsTerminal, stderr},
};

use tracing::Dispatch;
use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    fmt::{MakeWriter, format::JsonFields, layer, writer::BoxMakeWriter},
    layer::SubscriberExt,
    util::SubscriberInitExt,
};

pub use error::TelemetryError;
pub use guard::TelemetryGuard;
pub use log_format::{LogFormat, ParseLogFormatError};
#[cfg(feature = "otlp")]
pub use otlp::{OtlpConfig, OtlpError};

use json::JsonLines;

/// The directives that apply if there are no others.
const DEFAULT_FILTER: &str = "info";

type BoxedLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// The telemetry of a process.
///
/// Guarantees:
/// - nothing is process-wide until the program calls [`install`](Self::install);
/// - the filter of the log is that of the environment variable `RUST_LOG`, and `info` without one. An invalid filter is
///   an error;
/// - the log is written to the standard error stream;
/// - the lines of a reconciliation contain the fields of its span, also if only errors are logged;
/// - a line in JSON is an object with the keys `ts`, `level`, `logger` and `msg`, as those of controller-runtime,
///   `span`, and the fields of the event and of the spans around it: an inner one replaces an outer one. A field whose
///   name is one of these keys gets the suffix `_`;
/// - traces are exported only with the feature `otlp` and its configuration.
///
/// ```no_run
/// use kubewright_manager::telemetry::{LogFormat, Telemetry};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let format: LogFormat = "json".parse()?; // the value of a flag such as `--log-format`
/// let telemetry = Telemetry::new().log_format(format).install()?;
/// // Add `telemetry` to the manager, or await `telemetry.shutdown()` before the process ends.
/// # drop(telemetry);
/// # Ok(())
/// # }
/// ```
#[must_use = "telemetry does nothing until it is installed"]
pub struct Telemetry {
    log_format: LogFormat,
    filter: Filter,
    writer: BoxMakeWriter,
    is_colored: bool,
    #[cfg(feature = "otlp")]
    otlp: Option<OtlpConfig>,
}

/// The directives of the filter of the log.
#[derive(Debug)]
enum Filter {
    /// Those of the environment variable, or these ones.
    Environment {
        default: String,
    },
    Fixed(String),
}

impl Telemetry {
    /// Creates telemetry with a log in text, and without export.
    pub fn new() -> Self {
        Telemetry {
            log_format: LogFormat::default(),
            filter: Filter::Environment { default: DEFAULT_FILTER.to_owned() },
            writer: BoxMakeWriter::new(stderr),
            is_colored: stderr().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
            #[cfg(feature = "otlp")]
            otlp: None,
        }
    }

    /// Sets the format of the log; text by default.
    pub fn log_format(mut self, format: LogFormat) -> Self {
        self.log_format = format;
        self
    }

    /// Sets the filter that applies if `RUST_LOG` is not set or empty; `info` by default. The directives are those of
    /// [`EnvFilter`], such as `info,my_operator=debug`.
    pub fn default_filter(mut self, directives: impl Into<String>) -> Self {
        self.filter = Filter::Environment { default: directives.into() };
        self
    }

    /// Sets the filter, whether `RUST_LOG` is set or not.
    pub fn filter(mut self, directives: impl Into<String>) -> Self {
        self.filter = Filter::Fixed(directives.into());
        self
    }

    /// Sets the writer of the log; the standard error stream by default. Text has no colors then.
    pub fn writer(mut self, writer: impl for<'a> MakeWriter<'a> + Send + Sync + 'static) -> Self {
        self.writer = BoxMakeWriter::new(writer);
        self.is_colored = false;
        self
    }

    /// Exports traces to an OpenTelemetry collector.
    #[cfg(feature = "otlp")]
    pub fn otlp(mut self, config: OtlpConfig) -> Self {
        self.otlp = Some(config);
        self
    }

    /// Installs the subscriber of this process, and forwards the records of the crate `log` to it. The guard exports
    /// the remaining traces: add it to the manager.
    ///
    /// # Errors
    /// Fails if the filter or the configuration of the export is invalid, or if a subscriber or a logger is installed.
    pub fn install(self) -> Result<TelemetryGuard, TelemetryError> {
        let (subscriber, guard) = self.build()?;
        subscriber.try_init().map_err(TelemetryError::Install)?;
        Ok(guard)
    }

    /// Creates the subscriber without installing it, for tests and for programs with several subscribers: see
    /// [`tracing::dispatcher::with_default`].
    ///
    /// # Errors
    /// Fails if the filter or the configuration of the export is invalid.
    pub fn build(self) -> Result<(Dispatch, TelemetryGuard), TelemetryError> {
        let Telemetry {
            log_format,
            filter,
            writer,
            is_colored,
            #[cfg(feature = "otlp")]
            otlp,
        } = self;
        let log = log_layer(log_format, filter.resolve()?, writer, is_colored);
        #[cfg(feature = "otlp")]
        if let Some(config) = otlp {
            let (traces, guard) = config.build()?;
            return Ok((dispatch(vec![log, traces]), guard));
        }
        Ok((dispatch(vec![log]), TelemetryGuard::default()))
    }
}

impl Filter {
    fn resolve(self) -> Result<EnvFilter, TelemetryError> {
        let directives = match self {
            Filter::Fixed(directives) => directives,
            Filter::Environment { default } => match env::var(EnvFilter::DEFAULT_ENV) {
                Ok(directives) if !directives.is_empty() => directives,
                Ok(_) | Err(env::VarError::NotPresent) => default,
                Err(env::VarError::NotUnicode(_)) => return Err(TelemetryError::FilterEncoding),
            },
        };
        parse_filter(&directives)
    }
}

fn parse_filter(directives: &str) -> Result<EnvFilter, TelemetryError> {
    let invalid = |error| TelemetryError::InvalidFilter { directives: directives.to_owned(), error };
    EnvFilter::builder().parse(directives).map_err(invalid)
}

fn log_layer(format: LogFormat, filter: EnvFilter, writer: BoxMakeWriter, is_colored: bool) -> BoxedLayer {
    let lines = layer::<Registry>().with_writer(writer);
    match format {
        LogFormat::Text => lines.with_ansi(is_colored).with_filter(filter).boxed(),
        LogFormat::Json => {
            let lines = lines.with_ansi(false).fmt_fields(JsonFields::new()).event_format(JsonLines);
            lines.with_filter(filter).boxed()
        }
    }
}

fn dispatch(layers: Vec<BoxedLayer>) -> Dispatch {
    Dispatch::new(Registry::default().with(layers))
}

impl Default for Telemetry {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Telemetry");
        debug.field("log_format", &self.log_format).field("filter", &self.filter);
        #[cfg(feature = "otlp")]
        debug.field("otlp", &self.otlp);
        debug.finish_non_exhaustive()
    }
}
