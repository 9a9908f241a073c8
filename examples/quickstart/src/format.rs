//! Text representations of Loggers: a line for an event, a page as of `kubectl describe`.

use kubewright_runtime::{Event, ObjectKey};
use logger_types::v2::Logger;

/// Formats an event as `MODIFIED default/audit  Available, 2 of 2, every 1m`.
pub(crate) fn line(event: &Event<Logger>) -> String {
    let event_type = match event {
        Event::Added { .. } => "ADDED",
        Event::Updated { .. } => "MODIFIED",
        Event::Deleted { .. } => "DELETED",
    };
    let logger = event.object();
    let status = logger.status.clone().unwrap_or_default();
    let state = status.state.map_or_else(|| "no state yet".to_owned(), |state| format!("{state:?}"));
    let (current, desired) = (status.ready_replicas.unwrap_or(0), logger.spec.replicas.unwrap_or(1));
    format!(
        "{event_type} {}  {state}, {current} of {desired}, every {}",
        ObjectKey::from_object(logger.as_ref()),
        logger.spec.interval
    )
}

/// Formats a Logger as a short `kubectl describe` does.
pub(crate) fn describe(logger: &Logger) -> String {
    let (meta, spec, status) = (&logger.metadata, &logger.spec, logger.status.clone().unwrap_or_default());
    let mut page = vec![
        ("Name", meta.name.clone()),
        ("Namespace", meta.namespace.clone()),
        ("Generation", meta.generation.map(|generation| generation.to_string())),
        ("Log", Some(spec.name.clone())),
        ("Interval", Some(spec.interval.clone())),
        ("Desired", Some(spec.replicas.unwrap_or(1).to_string())),
        ("State", status.state.map(|state| format!("{state:?}"))),
        ("Ready", status.ready_replicas.map(|replicas| replicas.to_string())),
        ("Observed", status.observed_generation.map(|generation| format!("generation {generation}"))),
    ];
    for condition in status.conditions.unwrap_or_default() {
        page.push((
            "Condition",
            Some(format!("{}={} ({}): {}", condition.type_, condition.status, condition.reason, condition.message)),
        ));
    }
    let line =
        |(name, value): (&str, Option<String>)| format!("  {name:<11}{}", value.unwrap_or_else(|| "<none>".to_owned()));
    page.into_iter().map(line).collect::<Vec<_>>().join("\n")
}
