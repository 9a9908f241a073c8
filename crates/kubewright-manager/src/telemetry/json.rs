//! Log lines in JSON, with the keys of controller-runtime's logger.

use std::fmt::{self, Debug};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    fmt::{
        FmtContext, FormatEvent, FormattedFields,
        format::{JsonFields, Writer},
    },
    registry::{LookupSpan, SpanRef},
};

/// The keys of every line, and of lines within a span.
const KEYS: [&str; 5] = ["ts", "level", "logger", "msg", "span"];

/// Formats each event as a JSON object on one line.
///
/// The JSON format of `tracing-subscriber` writes the name of a span as its field `name`, which is the name of the
/// object in the span of a reconciliation.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonLines;

/// A line of the log.
#[derive(Serialize)]
struct Line<'a> {
    ts: String,
    level: &'static str,
    logger: &'a str,
    msg: String,
    /// The name of the innermost span.
    #[serde(skip_serializing_if = "Option::is_none")]
    span: Option<&'static str>,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

impl<S> FormatEvent<S, JsonFields> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, JsonFields>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut event_fields = Fields::default();
        event.record(&mut event_fields);
        let msg = event_fields.take("message");
        let metadata = event.metadata();
        // An event of the crate `log` has the target of its record in this field.
        let target = event_fields.take("log.target");
        ["log.module_path", "log.file", "log.line"].into_iter().for_each(|name| drop(event_fields.0.remove(name)));
        let mut fields = Map::new();
        let spans = context.event_scope().into_iter().flat_map(|scope| scope.from_root());
        spans.for_each(|span| add(&mut fields, span_fields(&span)));
        add(&mut fields, event_fields.0);
        let line = Line {
            ts: format!("{:.6}", Timestamp::now()),
            level: level(*metadata.level()),
            logger: target.as_deref().unwrap_or_else(|| metadata.target()),
            msg: msg.unwrap_or_default(),
            span: context.event_scope().and_then(|mut scope| Some(scope.next()?.name())),
            fields,
        };
        let line = serde_json::to_string(&line).map_err(|_| fmt::Error)?;
        writeln!(writer, "{line}")
    }
}

/// Adds fields, which replace those of the same name. The keys of every line are not replaced.
fn add(fields: &mut Map<String, Value>, more: Map<String, Value>) {
    for (name, value) in more {
        let name = if KEYS.contains(&name.as_str()) { format!("{name}_") } else { name };
        fields.insert(name, value);
    }
}

fn span_fields<'a, S: LookupSpan<'a>>(span: &SpanRef<'a, S>) -> Map<String, Value> {
    let extensions = span.extensions();
    let formatted = extensions.get::<FormattedFields<JsonFields>>();
    formatted.and_then(|formatted| serde_json::from_str(&formatted.fields).ok()).unwrap_or_default()
}

/// Returns the level in lower case, as zap does.
fn level(level: Level) -> &'static str {
    match level {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    }
}

/// The fields of an event.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    /// Removes a field, as text.
    fn take(&mut self, name: &str) -> Option<String> {
        match self.0.remove(name)? {
            Value::String(text) => Some(text),
            value => Some(value.to_string()),
        }
    }

    fn insert(&mut self, field: &Field, value: impl Into<Value>) {
        let name = field.name();
        self.0.insert(name.strip_prefix("r#").unwrap_or(name).to_owned(), value.into());
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.insert(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.insert(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.insert(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.insert(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.insert(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.insert(field, format!("{value:?}"));
    }
}
