//! Rules E1 to E3 and E5 of client-go's recorders, with the corrections of this one, and the bounds.

use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;

use super::*;
use crate::events::{config::EventConfig, new_event::EventType};

const MINUTE: Duration = Duration::from_secs(60);

struct Fixture {
    correlator: Correlator,
    reporter: Arc<Reporter>,
    now: Instant,
    start: Instant,
}

impl Fixture {
    fn new() -> Self {
        let now = Instant::now();
        Fixture { correlator: Correlator::new(), reporter: reporter("maps"), now, start: now }
    }

    /// Observes an event at the current time, with the seconds since the start as its wall clock time.
    fn observe(&mut self, event: NewEvent) -> Observation {
        let time = Timestamp::from_second(i64::try_from((self.now - self.start).as_secs()).unwrap()).unwrap();
        let occurrence = Occurrence { reporter: Arc::clone(&self.reporter), event, time };
        self.correlator.observe(occurrence, self.now)
    }

    fn decide(&mut self, event: NewEvent) -> Decision {
        self.observe(event).decision
    }

    /// Returns the writes that become due until a time has passed.
    fn advance(&mut self, by: Duration) -> Vec<Write> {
        let (end, mut writes) = (self.now + by, Vec::new());
        while let Some(deadline) = self.correlator.next_deadline().filter(|deadline| *deadline <= end) {
            self.now = self.now.max(deadline);
            writes.extend(std::iter::from_fn(|| self.correlator.pop_due(self.now)));
        }
        self.now = end;
        writes
    }
}

fn reporter(controller: &str) -> Arc<Reporter> {
    Arc::new(Reporter::new(controller, &EventConfig::default().instance("maps-0")).unwrap())
}

fn object(name: &str) -> ObjectReference {
    ObjectReference {
        api_version: Some("v1".into()),
        kind: Some("ConfigMap".into()),
        namespace: Some("team".into()),
        name: Some(name.into()),
        uid: Some(format!("uid of {name}")),
        ..ObjectReference::default()
    }
}

fn event(name: &str, note: &str) -> NewEvent {
    NewEvent::new(object(name), EventType::Warning, "Failed", "Writing", note)
}

fn written(decision: Decision) -> Write {
    match decision {
        Decision::Write(write) => write,
        other => panic!("expected a write: {other:?}"),
    }
}

/// Returns the count of the series that a write sends.
fn count(write: &Write) -> Option<i32> {
    write.event.series.as_ref().map(|series| series.count)
}

fn note(write: &Write) -> &str {
    write.event.note.as_deref().unwrap_or_default()
}

#[test]
fn e01_the_second_event_of_a_series_is_patched_at_once_and_later_ones_are_counted() {
    let mut fixture = Fixture::new();
    let first = written(fixture.decide(event("a", "full")));
    assert_eq!((first.verb, count(&first)), (Verb::Create, None));
    fixture.advance(Duration::from_secs(7));
    let second = written(fixture.decide(event("a", "full")));
    assert_eq!((second.verb, count(&second), second.series), (Verb::Patch, Some(2), first.series));
    assert_eq!(second.event.metadata, first.event.metadata);
    assert_eq!(second.event.series.unwrap().last_observed_time.0.as_second(), 7);
    assert_eq!(second.event.event_time, first.event.event_time, "it is immutable");
    for _ in 0..100 {
        assert_eq!(fixture.decide(event("a", "full")), Decision::Count);
    }
}

#[test]
fn e01_events_have_the_fields_that_the_server_requires() {
    let mut fixture = Fixture::new();
    let write = written(fixture.decide(event("a", "full").related(object("b"))));
    let created = *write.event;
    assert_eq!(created.metadata.namespace.as_deref(), Some("team"));
    assert!(created.metadata.name.unwrap().starts_with("a."));
    assert_eq!((created.type_.as_deref(), created.note.as_deref()), (Some("Warning"), Some("full")));
    assert_eq!((created.reason.as_deref(), created.action.as_deref()), (Some("Failed"), Some("Writing")));
    assert_eq!((created.regarding, created.related), (Some(object("a")), Some(object("b"))));
    assert_eq!(created.reporting_controller.as_deref(), Some("maps"));
    assert_eq!(created.reporting_instance.as_deref(), Some("maps-0"));
    assert!(created.event_time.is_some());
}

#[test]
fn e01_events_about_cluster_scoped_objects_are_in_the_default_namespace() {
    for namespace in [None, Some(String::new())] {
        let regarding = ObjectReference { namespace, ..object("a") };
        let event = NewEvent::new(regarding, EventType::Normal, "Created", "Creating", "");
        let write = written(Fixture::new().decide(event));
        assert_eq!(write.event.metadata.namespace.as_deref(), Some("default"));
    }
}

#[test]
fn e01_each_part_of_the_key_starts_a_series_and_the_resource_version_does_not() {
    let mut fixture = Fixture::new();
    let full = |regarding, type_, reason, action| NewEvent::new(regarding, type_, reason, action, "full");
    let warning = EventType::Warning;
    let recreated = ObjectReference { uid: Some("other".into()), ..object("a") };
    let secret = ObjectReference { kind: Some("Secret".into()), ..object("a") };
    let elsewhere = ObjectReference { namespace: Some("other".into()), ..object("a") };
    for different in [
        event("a", "full"),
        event("b", "full"),
        event("a", "empty"),
        event("a", "full").related(object("b")),
        event("a", "full").series_key("full"),
        full(recreated, warning, "Failed", "Writing"),
        full(secret, warning, "Failed", "Writing"),
        full(elsewhere, warning, "Failed", "Writing"),
        full(object("a"), EventType::Normal, "Failed", "Writing"),
        full(object("a"), warning, "Denied", "Writing"),
        full(object("a"), warning, "Failed", "Reading"),
    ] {
        let write = written(fixture.decide(different.clone()));
        assert_eq!(write.verb, Verb::Create, "{different:?}");
    }
    let changed = |version: &str, path: &str| ObjectReference {
        resource_version: Some(version.into()),
        field_path: Some(path.into()),
        ..object("a")
    };
    let same = full(changed("7", "data"), warning, "Failed", "Writing");
    assert_eq!(count(&written(fixture.decide(same))), Some(2));
    fixture.reporter = reporter("others");
    assert_eq!(written(fixture.decide(event("a", "full"))).verb, Verb::Create, "another controller");
}

#[test]
fn e01_events_with_one_series_key_are_one_series_with_the_first_note() {
    let mut fixture = Fixture::new();
    let first = written(fixture.decide(event("a", "attempt 1").series_key("volume")));
    let second = written(fixture.decide(event("a", "attempt 2").series_key("volume")));
    assert_eq!((note(&second), count(&second), second.series), ("attempt 1", Some(2), first.series));
    assert_eq!(fixture.decide(event("a", "attempt 3").series_key("volume")), Decision::Count);
}

#[test]
fn e02_after_ten_different_notes_one_event_represents_the_remaining_ones() {
    let mut fixture = Fixture::new();
    for attempt in 1..=10 {
        let text = format!("attempt {attempt}");
        assert_eq!(note(&written(fixture.decide(event("a", &text)))), text);
    }
    let combined = written(fixture.decide(event("a", "attempt 11")));
    assert_eq!((combined.verb, note(&combined)), (Verb::Create, "(combined from similar events): attempt 11"));
    let second = written(fixture.decide(event("a", "attempt 12")));
    assert_eq!((second.series, count(&second)), (combined.series, Some(2)));
    assert_eq!(fixture.decide(event("a", "attempt 13")), Decision::Count);

    let known = written(fixture.decide(event("a", "attempt 10")));
    assert_eq!((note(&known), count(&known)), ("attempt 10", Some(2)), "known notes keep their events");
    let other = NewEvent::new(object("a"), EventType::Warning, "Denied", "Writing", "attempt 11");
    assert_eq!(note(&written(fixture.decide(other))), "attempt 11", "another reason is not similar");
    assert_eq!(note(&written(fixture.decide(event("b", "attempt 11")))), "attempt 11", "nor is another object");
}

#[test]
fn e02_notes_count_for_ten_minutes() {
    let mut fixture = Fixture::new();
    for attempt in 0..10 {
        written(fixture.decide(event("a", &format!("attempt {attempt}"))));
    }
    fixture.advance(10 * MINUTE - Duration::from_secs(1));
    assert!(note(&written(fixture.decide(event("a", "late")))).starts_with("(combined"));
    fixture.advance(Duration::from_secs(1));
    assert_eq!(note(&written(fixture.decide(event("a", "later")))), "later");
}

#[test]
fn e02_the_combined_note_is_cut_on_a_character_boundary() {
    let mut fixture = Fixture::new();
    for attempt in 0..10 {
        written(fixture.decide(event("a", &attempt.to_string())));
    }
    let combined = written(fixture.decide(event("a", &"é".repeat(512))));
    assert_eq!(note(&combined).len(), 1024);
    assert!(note(&combined).ends_with('é'));
}

#[test]
fn e03_an_object_has_25_writes_at_once_and_one_more_every_five_minutes() {
    let mut fixture = Fixture::new();
    let reason = |name: &str, number: i32| {
        NewEvent::new(object(name), EventType::Normal, format!("Reason{number}"), "Writing", "")
    };
    for number in 0..25 {
        written(fixture.decide(reason("a", number)));
    }
    let dropped = Decision::Drop(DropReason::RateLimited);
    assert_eq!(fixture.decide(reason("a", 25)), dropped);
    written(fixture.decide(reason("b", 25)));
    fixture.advance(5 * MINUTE - Duration::from_secs(1));
    assert_eq!(fixture.decide(reason("a", 25)), dropped);
    fixture.advance(Duration::from_secs(1));
    written(fixture.decide(reason("a", 25)));
    assert_eq!(fixture.decide(reason("a", 26)), dropped);
    fixture.advance(5000 * MINUTE);
    for number in 0..25 {
        written(fixture.decide(reason("a", number)));
    }
    assert_eq!(fixture.decide(reason("a", 25)), dropped, "tokens do not exceed the burst");
}

#[test]
fn e03_repeated_events_without_a_token_are_counted() {
    let mut fixture = Fixture::new();
    for number in 0..25 {
        let reason = format!("Reason{number}");
        written(fixture.decide(NewEvent::new(object("a"), EventType::Normal, reason, "Writing", "")));
    }
    let repeated = || NewEvent::new(object("a"), EventType::Normal, "Reason0", "Writing", "");
    assert_eq!(fixture.decide(repeated()), Decision::Count);
    fixture.advance(5 * MINUTE);
    assert_eq!(count(&written(fixture.decide(repeated()))), Some(3), "the next token writes the count");
}

#[test]
fn e05_a_running_series_is_written_every_30_minutes() {
    let mut fixture = Fixture::new();
    written(fixture.decide(event("a", "full")));
    written(fixture.decide(event("a", "full")));
    let mut counts = Vec::new();
    for _ in 0..90 {
        let writes = fixture.advance(MINUTE);
        counts.extend(writes.iter().map(|write| (write.verb, count(write))));
        assert_eq!(fixture.decide(event("a", "full")), Decision::Count);
    }
    let patch = |count| (Verb::Patch, Some(count));
    assert_eq!(counts, [patch(31), patch(61), patch(91)]);
}

#[test]
fn e05_a_series_that_is_idle_for_six_minutes_is_written_a_last_time_and_forgotten() {
    let mut fixture = Fixture::new();
    let first = written(fixture.decide(event("a", "full")));
    for _ in 0..3 {
        fixture.decide(event("a", "full"));
    }
    assert!(fixture.advance(6 * MINUTE - Duration::from_secs(1)).is_empty());
    let last = fixture.advance(Duration::from_secs(1));
    assert_eq!(last.iter().map(|write| (write.series, count(write))).collect::<Vec<_>>(), [(first.series, Some(4))]);
    assert!(fixture.advance(1000 * MINUTE).is_empty());
    let next = written(fixture.decide(event("a", "full")));
    assert_eq!((next.verb, count(&next)), (Verb::Create, None));
    assert_ne!(next.event.metadata.name, first.event.metadata.name);
}

#[test]
fn e05_single_events_and_written_counts_are_forgotten_without_a_write() {
    let mut fixture = Fixture::new();
    written(fixture.decide(event("a", "once")));
    written(fixture.decide(event("b", "twice")));
    written(fixture.decide(event("b", "twice")));
    assert!(fixture.advance(6 * MINUTE).is_empty());
    assert_eq!((fixture.correlator.series.len(), fixture.correlator.deadlines.len()), (0, 0));
}

#[test]
fn the_number_of_series_is_bounded_and_counts_of_evicted_ones_are_written() {
    let mut fixture = Fixture::new();
    for _ in 0..5 {
        fixture.decide(event("counted", "full"));
    }
    for number in 0..9_999 {
        assert_eq!(fixture.observe(event(&format!("object-{number}"), "full")).evicted, None);
    }
    let evicted = fixture.observe(event("further", "full")).evicted.unwrap();
    assert_eq!((evicted.event.regarding, evicted.event.series.unwrap().count), (Some(object("counted")), 5));
    for number in 0..20_000 {
        assert_eq!(fixture.observe(event(&format!("other-{number}"), "full")).evicted, None);
    }
    let Correlator { series, similar, buckets, deadlines, .. } = &fixture.correlator;
    assert_eq!([series.len(), similar.len(), buckets.len(), deadlines.len()], [10_000; 4]);
}

#[test]
fn unwritten_counts_are_returned_before_the_stop() {
    let mut fixture = Fixture::new();
    for name in ["a", "b", "a", "b", "b", "b", "c"] {
        fixture.decide(event(name, "full"));
    }
    let last = fixture.correlator.pop_unwritten(fixture.now).unwrap();
    assert_eq!((last.event.regarding, last.event.series.unwrap().count), (Some(object("b")), 4));
    assert_eq!(fixture.correlator.pop_unwritten(fixture.now), None);
    assert_eq!(fixture.correlator.next_deadline(), None);
}
