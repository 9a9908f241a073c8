//! The lines of the log, in both formats.

use jiff::Timestamp;
use kubewright_manager::{LogFormat, Telemetry};
use serde_json::json;
use tracing::dispatcher::with_default;

use crate::fixture::{Log, reconcile, telemetry};

#[tokio::test(start_paused = true)]
async fn a_json_line_has_the_keys_and_fields_of_controller_runtimes_logger() {
    let log = Log::default();
    let (subscriber, _guard) = telemetry(&log).log_format(LogFormat::Json).build().unwrap();
    reconcile(&subscriber).await;
    let mut line = log.line("reconciling");
    let fields = line.as_object_mut().unwrap();
    let (time, id) = (fields.remove("ts").unwrap(), fields.remove("reconcileID").unwrap());
    assert!(time.as_str().unwrap().parse::<Timestamp>().is_ok(), "{time}");
    assert_eq!(id.as_str().unwrap().len(), 36, "a UUID: {id}");
    let expected = json!({
        "level": "info",
        "logger": "telemetry::fixture",
        "msg": "reconciling",
        "span": "reconcile",
        "controller": "config-maps",
        "namespace": "default",
        "name": "a",
        "trigger": "ConfigMap initial",
        "count": 3,
    });
    assert_eq!(line, expected);
    let error = log.line("terminal error; not retrying until the object changes");
    assert_eq!((&error["level"], &error["error"], &error["reconcileID"]), (&json!("error"), &json!("invalid"), &id));
}

#[tokio::test(start_paused = true)]
async fn the_lines_of_a_reconciliation_have_its_fields_if_only_errors_are_logged() {
    let log = Log::default();
    let (subscriber, _guard) = telemetry(&log).filter("error").log_format(LogFormat::Json).build().unwrap();
    reconcile(&subscriber).await;
    let lines = log.lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!((&lines[0]["controller"], &lines[0]["name"]), (&json!("config-maps"), &json!("a")));
}

#[tokio::test(start_paused = true)]
async fn a_line_in_text_has_the_span_of_the_reconciliation() {
    let log = Log::default();
    let (subscriber, _guard) = telemetry(&log).build().unwrap();
    reconcile(&subscriber).await;
    let span = "ERROR reconcile{controller=\"config-maps\" namespace=\"default\" name=\"a\" reconcileID=";
    let line = log.text().lines().find(|line| line.contains(span)).map(str::to_owned);
    assert!(line.is_some_and(|line| line.ends_with("error=invalid")), "{}", log.text());
}

#[test]
fn fields_replace_those_of_outer_spans_and_no_key_of_every_line() {
    let log = Log::default();
    let (subscriber, _guard) = telemetry(&log).log_format(LogFormat::Json).build().unwrap();
    with_default(&subscriber, || {
        let outer = tracing::info_span!("outer", level = 1, depth = 1).entered();
        let inner = tracing::info_span!("inner", depth = 2).entered();
        tracing::warn!(ts = true, msg = "field", ratio = 0.5, text = "two\nlines", "working");
        drop((inner, outer));
    });
    let mut line = log.line("working");
    line.as_object_mut().unwrap().remove("ts").unwrap();
    let expected = json!({
        "level": "warn",
        "level_": 1,
        "logger": "telemetry::log",
        "msg": "working",
        "msg_": "field",
        "span": "inner",
        "depth": 2,
        "ts_": true,
        "ratio": 0.5,
        "text": "two\nlines",
    });
    assert_eq!(line, expected);
}

#[test]
fn an_invalid_filter_is_an_error() {
    let error = Telemetry::new().filter("info,operator=loud").build().unwrap_err().to_string();
    assert!(error.starts_with("invalid log filter `info,operator=loud`: "), "{error}");
}
