//! The rows of events, in both groups.

use serde_json::{Value, json};

use super::row::{Row, UNKNOWN, text};

/// The names of the fields of an Event in one of its groups.
pub(super) struct EventFields {
    first: &'static str,
    last: &'static str,
    count: &'static str,
    object: &'static str,
    source: &'static str,
    controller: &'static str,
    message: &'static str,
}

pub(super) const CORE_EVENT: EventFields = EventFields {
    first: "firstTimestamp",
    last: "lastTimestamp",
    count: "count",
    object: "involvedObject",
    source: "source",
    controller: "reportingComponent",
    message: "message",
};

pub(super) const NEW_EVENT: EventFields = EventFields {
    first: "deprecatedFirstTimestamp",
    last: "deprecatedLastTimestamp",
    count: "deprecatedCount",
    object: "regarding",
    source: "deprecatedSource",
    controller: "reportingController",
    message: "note",
};

pub(super) fn event(row: &Row<'_>, fields: &EventFields) -> Vec<Value> {
    let unknown = || UNKNOWN.to_owned();
    let first = row.since(fields.first).or_else(|| row.since("eventTime")).unwrap_or_else(unknown);
    let mut last = row.since(fields.last).unwrap_or_else(|| first.clone());
    let mut count = Some(row.number(fields.count)).filter(|count| *count != 0).unwrap_or(1);
    if row.get("series").is_object() {
        last = row.since("series.lastObservedTime").unwrap_or_else(unknown);
        count = row.number("series.count");
    }
    let object = row.get(fields.object);
    let target = [text(&object["kind"]).to_lowercase(), text(&object["name"]).to_owned()];
    let target = target.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
    let source = row.get(fields.source);
    let part = |of_source: &str, path: &str| {
        let old = text(&source[of_source]);
        if old.is_empty() { row.text(path) } else { old }.to_owned()
    };
    let source = [part("component", fields.controller), part("host", "reportingInstance")];
    let source = source.join(", ");
    vec![
        json!(last),
        json!(row.text("type")),
        json!(row.text("reason")),
        json!(target),
        json!(text(&object["fieldPath"])),
        json!(source.strip_suffix(", ").unwrap_or(&source)),
        json!(row.text(fields.message).trim()),
        json!(first),
        json!(count),
        row.name(),
    ]
}
