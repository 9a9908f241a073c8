//! The log of all tests: the lines of a text format, and the events with the spans around them.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    io::{Result as IoResult, Write},
    sync::{Arc, LazyLock, Mutex},
};

use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id},
};
use tracing_subscriber::{
    Layer,
    filter::LevelFilter,
    fmt,
    layer::{Context, SubscriberExt},
    registry::LookupSpan,
    util::SubscriberInitExt,
};

/// The log of all tests. It is installed before the first controller starts: a callsite that is registered while the
/// subscriber is being installed can stay disabled for the rest of the process.
pub(crate) static LOG: LazyLock<Log> = LazyLock::new(|| {
    let log = Log::default();
    let writer = log.text.clone();
    let lines = fmt::layer().with_writer(move || writer.clone()).with_ansi(false).without_time();
    tracing_subscriber::registry().with(LevelFilter::INFO).with(lines).with(log.events.clone()).init();
    log
});

#[derive(Default)]
pub(crate) struct Log {
    text: Text,
    events: Events,
}

impl Log {
    /// Returns the lines that contain `with`.
    pub(crate) fn lines(&self, with: &str) -> Vec<String> {
        let text = String::from_utf8_lossy(&self.text.0.lock().unwrap()).into_owned();
        text.lines().filter(|line| line.contains(with)).map(str::to_owned).collect()
    }

    /// Returns the spans around each event with this message, from the inner to the outer one.
    pub(crate) fn spans(&self, message: &str) -> Vec<Vec<Span>> {
        let events = self.events.0.lock().unwrap();
        events.iter().filter(|(known, _)| known == message).map(|(_, spans)| spans.clone()).collect()
    }
}

/// A span with its fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct Span {
    pub(crate) name: &'static str,
    fields: BTreeMap<&'static str, String>,
}

impl Span {
    /// Returns a field; an empty string if it is missing.
    pub(crate) fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }
}

impl Visit for Span {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_owned());
    }
}

#[derive(Clone, Default)]
struct Text(Arc<Mutex<Vec<u8>>>);

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> IoResult<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> IoResult<()> {
        Ok(())
    }
}

/// The messages of all events, with the spans around them.
type Recorded = Vec<(String, Vec<Span>)>;

#[derive(Clone, Default)]
struct Events(Arc<Mutex<Recorded>>);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Events {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut span = Span { name: attributes.metadata().name(), ..Span::default() };
        attributes.record(&mut span);
        context.span(id).unwrap().extensions_mut().insert(span);
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Span::default();
        event.record(&mut fields);
        let scope = context.event_scope(event).into_iter().flatten();
        let spans = scope.filter_map(|span| span.extensions().get::<Span>().cloned()).collect();
        self.0.lock().unwrap().push((fields.field("message").to_owned(), spans));
    }
}
