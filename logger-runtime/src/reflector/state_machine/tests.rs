//! Tests of the rules for versions, retries and delays, without a server.

use proptest::prelude::*;

use super::*;
use crate::reflector::{backoff::ExponentialBackoff, failure::ReflectorError};

/// A state machine with a simulated clock: waits pass at once and are recorded.
struct Simulation {
    machine: StateMachine,
    now: Instant,
    waits: Vec<Duration>,
}

const MS: fn(u64) -> Duration = Duration::from_millis;

fn policy() -> Policy {
    let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
    Policy {
        page_size: None,
        watch_list: false,
        watch_timeout: (minutes(5), minutes(10)),
        idle_timeout: None,
        max_internal_error_retry: Duration::from_secs(30),
    }
}

fn simulation(policy: Policy) -> Simulation {
    let backoff = ExponentialBackoff::default().jitter(0.0);
    let now = Instant::now();
    let machine = StateMachine::new(policy, Box::new(backoff), fastrand::Rng::with_seed(6), now);
    Simulation { machine, now, waits: Vec::new() }
}

fn started() -> Simulation {
    simulation(policy())
}

/// A simulation that has listed the objects at this version and will watch next.
fn synced(version: &str) -> Simulation {
    let mut simulation = started();
    simulation.list();
    simulation.listed(version);
    simulation
}

fn streaming() -> Simulation {
    simulation(Policy { watch_list: true, ..policy() })
}

impl Simulation {
    fn next(&mut self) -> Step {
        loop {
            match self.machine.next(self.now) {
                Step::Wait(wait) => {
                    self.waits.push(wait);
                    self.now += wait;
                }
                request => return request,
            }
        }
    }

    /// Returns the version (empty for the most recent one) and the limit of the next list.
    fn list(&mut self) -> (String, Option<u32>) {
        let Step::List(options) = self.next() else { panic!("expected a list") };
        (version(&options), options.limit)
    }

    fn watch(&mut self) -> ListOptions {
        let Step::Watch(options) = self.next() else { panic!("expected a watch") };
        self.machine.watch_started(self.now);
        options
    }

    fn watch_version(&mut self) -> String {
        version(&self.watch())
    }

    fn listed(&mut self, version: &str) {
        assert!(self.machine.page_received(self.now, version, None));
    }

    fn page(&mut self, token: &str) {
        assert!(!self.machine.page_received(self.now, "7", Some(token.into())));
    }

    fn list_fails(&mut self, failure: Failure) {
        self.machine.list_failed(self.now, failure);
    }

    fn watch_fails(&mut self, failure: Failure) {
        self.machine.watch_failed(self.now, failure);
    }

    fn event(&mut self, event: EventType, version: &str) -> Handling {
        self.machine.event_received(self.now, event, version)
    }

    fn watch_ends_after(&mut self, time: Duration) -> Option<ReflectorError> {
        self.now += time;
        self.machine.watch_ended(self.now)
    }
}

fn version(options: &ListOptions) -> String {
    options.resource_version.as_ref().map(|version| version.as_str().to_owned()).unwrap_or_default()
}

const BOOKMARK: EventType = EventType::Bookmark { initial_events_end: false };
const INITIAL_EVENTS_END: EventType = EventType::Bookmark { initial_events_end: true };

#[test]
fn r01_the_first_list_requests_any_version_in_pages_and_a_relist_the_last_version_unpaginated() {
    let mut simulation = started();
    assert_eq!(simulation.list(), ("0".into(), Some(500)));
    simulation.listed("10");
    assert_eq!(simulation.watch_version(), "10");
    simulation.event(EventType::Modified, "12");
    simulation.watch_fails(Failure::Expired);
    assert_eq!(simulation.list(), ("12".into(), None));
}

#[test]
fn r01_relists_are_paginated_if_the_first_list_was() {
    let mut simulation = started();
    simulation.list();
    simulation.page("next");
    let Step::List(second) = simulation.next() else { panic!("expected a list") };
    assert_eq!(
        (second.continue_token.as_deref(), second.limit, version(&second)),
        (Some("next"), Some(500), String::new())
    );
    simulation.listed("10");
    simulation.watch();
    simulation.watch_fails(Failure::Other);
    assert_eq!(simulation.list(), ("10".into(), Some(500)));
}

#[test]
fn r01_a_page_size_applies_to_every_list() {
    let mut simulation = simulation(Policy { page_size: Some(10), ..policy() });
    assert_eq!(simulation.list(), ("0".into(), Some(10)));
    simulation.listed("10");
    simulation.watch();
    simulation.watch_fails(Failure::Other);
    let Step::List(options) = simulation.next() else { panic!("expected a list") };
    assert_eq!((version(&options), options.limit), ("10".into(), Some(10)));
    assert_eq!(options.resource_version_match, Some("NotOlderThan"));
    simulation.page("next");
    let Step::List(options) = simulation.next() else { panic!("expected a list") };
    assert_eq!((options.resource_version, options.resource_version_match), (None, None));
}

#[test]
fn r02_an_expired_version_causes_a_list_of_the_most_recent_one_at_once_and_then_of_the_last_version_again() {
    let mut simulation = synced("10");
    simulation.watch();
    simulation.watch_fails(Failure::Other);
    assert_eq!(simulation.list(), ("10".into(), None));
    let waits = simulation.waits.len();
    simulation.list_fails(Failure::Expired);
    assert_eq!(simulation.list(), (String::new(), Some(500)));
    assert_eq!(simulation.waits.len(), waits, "without a back-off");
    simulation.listed("30");
    simulation.watch();
    simulation.watch_fails(Failure::Other);
    assert_eq!(simulation.list(), ("30".into(), None));
}

#[test]
fn r03_a_too_large_version_causes_a_list_of_the_most_recent_one_each_time() {
    let mut simulation = started();
    let mut versions = vec![simulation.list().0];
    simulation.listed("20");
    for next in ["30", "40", "50"] {
        simulation.watch();
        simulation.watch_fails(Failure::Other);
        versions.push(simulation.list().0);
        simulation.list_fails(Failure::TooLarge);
        versions.push(simulation.list().0);
        simulation.listed(next);
    }
    assert_eq!(versions, ["0", "20", "", "30", "", "40", ""]);
}

#[test]
fn r04_a_busy_or_refusing_server_is_watched_again_from_the_same_version_without_a_relist() {
    let mut simulation = synced("10");
    for failure in [
        Failure::TooManyRequests(None),
        Failure::ConnectionRefused,
        Failure::TooManyRequests(None),
        Failure::ConnectionRefused,
    ] {
        assert_eq!(simulation.watch_version(), "10");
        simulation.watch_fails(failure);
    }
    assert_eq!(simulation.watch_version(), "10");
    assert_eq!(simulation.waits, [MS(800), MS(1600), MS(3200), MS(6400)]);
}

#[test]
fn r04_a_retry_after_is_respected_up_to_a_minute() {
    let mut simulation = synced("10");
    for seconds in [5, 3600] {
        simulation.watch();
        simulation.watch_fails(Failure::TooManyRequests(Some(Duration::from_secs(seconds))));
    }
    simulation.watch();
    assert_eq!(simulation.waits, [MS(5000), MS(60_000)]);
}

#[test]
fn r05_a_failing_watch_is_retried_for_30_seconds_before_a_relist() {
    let mut simulation = synced("10");
    let mut watches = 0;
    while let Step::Watch(options) = simulation.next() {
        assert_eq!(version(&options), "10");
        simulation.watch_fails(Failure::Transient);
        watches += 1;
    }
    // After 0, 0.8, 2.4, 5.6, 12 and 24.8 seconds, and after 50.4, which is too late.
    assert_eq!((watches, simulation.waits.len()), (7, 7));
    simulation.listed("20");
    simulation.now += Duration::from_secs(300);
    simulation.watch();
    simulation.watch_fails(Failure::Transient);
    assert_eq!(simulation.watch_version(), "20", "a new period of errors");
}

#[test]
fn r05_an_interrupted_watch_is_restarted_at_once_and_then_backs_off() {
    let mut simulation = synced("10");
    simulation.watch();
    simulation.now += MS(1000);
    simulation.watch_fails(Failure::Transient);
    assert_eq!((simulation.watch_version(), simulation.waits.len()), ("10".into(), 0));
    simulation.watch_fails(Failure::Transient);
    assert_eq!((simulation.watch_version(), simulation.waits.len()), ("10".into(), 1));
}

#[test]
fn r05_lists_that_are_interrupted_twice_are_paginated_until_one_completes() {
    let mut simulation = started();
    for _ in 0..2 {
        assert_eq!(simulation.list().0, "0");
        simulation.list_fails(Failure::Transient);
    }
    assert_eq!(simulation.list(), (String::new(), Some(500)), "pages complete sooner");
    simulation.listed("10");
    simulation.watch();
    simulation.watch_fails(Failure::Other);
    assert_eq!(simulation.list(), ("10".into(), None));
}

#[test]
fn r06_failures_back_off_and_reset_after_two_minutes_without_failures() {
    let mut simulation = started();
    for _ in 0..8 {
        simulation.list();
        simulation.list_fails(Failure::Other);
    }
    simulation.list();
    assert_eq!(simulation.waits, [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000].map(MS));
    simulation.now += Duration::from_secs(121);
    simulation.list_fails(Failure::Other);
    simulation.list();
    assert_eq!(simulation.waits.last(), Some(&MS(800)));
}

#[test]
fn r06_a_successful_list_does_not_reset_the_back_off_of_failing_watches() {
    let mut simulation = started();
    for version in ["1", "2", "3"] {
        simulation.list();
        simulation.listed(version);
        simulation.watch();
        simulation.watch_fails(Failure::Expired);
    }
    simulation.list();
    assert_eq!(simulation.waits, [800, 1600, 3200].map(MS));
}

#[test]
fn r07_watch_timeouts_are_random_between_5_and_10_minutes() {
    let mut simulation = synced("10");
    let timeouts: Vec<_> = (0..100)
        .map(|_| {
            let options = simulation.watch();
            assert!(options.allow_watch_bookmarks);
            simulation.watch_ends_after(Duration::from_secs(300));
            options.timeout.unwrap().as_secs()
        })
        .collect();
    assert!(timeouts.iter().all(|timeout| (300..=600).contains(timeout)));
    assert!(timeouts.iter().any(|timeout| *timeout < 400) && timeouts.iter().any(|timeout| *timeout > 500));
    assert!(simulation.waits.is_empty(), "the end of a watch is not a failure");
}

#[test]
fn r07_a_watch_that_ends_within_a_second_without_events_is_an_error_and_backs_off() {
    let mut simulation = synced("10");
    simulation.watch();
    assert!(matches!(simulation.watch_ends_after(MS(999)), Some(ReflectorError::VeryShortWatch)));
    assert_eq!(simulation.watch_version(), "10");
    assert_eq!(simulation.waits, [MS(800)]);
    assert!(simulation.watch_ends_after(MS(1000)).is_none());
}

#[test]
fn r07_a_server_that_never_allows_a_watch_is_listed_repeatedly() {
    let mut simulation = synced("10");
    for _ in 0..2 {
        simulation.watch();
        simulation.watch_ends_after(MS(1));
    }
    assert_eq!(simulation.list(), ("10".into(), None));
    assert_eq!(simulation.waits, [MS(800), MS(1600)]);
}

#[test]
fn r07_a_very_short_watch_with_events_is_not_an_error_but_backs_off() {
    let mut simulation = synced("10");
    for version in ["11", "12", "13"] {
        simulation.watch();
        simulation.event(EventType::Added, version);
        assert!(simulation.watch_ends_after(MS(1)).is_none());
    }
    assert_eq!(simulation.watch_version(), "13");
    assert_eq!(simulation.waits, [800, 1600, 3200].map(MS));
}

#[test]
fn r07_a_watch_exceeds_its_timeout_by_at_most_30_seconds() {
    let mut simulation = synced("10");
    let (start, timeout) = (simulation.now, simulation.watch().timeout.unwrap());
    for _ in 0..timeout.as_secs() / 60 {
        simulation.now += Duration::from_secs(60);
        simulation.event(BOOKMARK, "10");
    }
    let deadline = simulation.machine.watch_deadline().unwrap();
    assert_eq!(deadline, start + timeout + Duration::from_secs(30));
    simulation.now = deadline;
    assert!(matches!(simulation.machine.watch_timed_out(deadline), Some(ReflectorError::IdleTimeout(_))));
    assert_eq!(simulation.watch_version(), "10");
}

#[test]
fn r07_an_idle_timeout_detects_a_silent_watch_sooner() {
    let idle = Duration::from_secs(90);
    let mut simulation = simulation(Policy { idle_timeout: Some(idle), ..policy() });
    simulation.list();
    simulation.listed("10");
    simulation.watch();
    simulation.now += Duration::from_secs(60);
    simulation.event(BOOKMARK, "11");
    assert_eq!(simulation.machine.watch_deadline(), Some(simulation.now + idle));
    simulation.machine.watch_timed_out(simulation.now + idle);
    assert_eq!(simulation.watch_version(), "11");
}

#[test]
fn r07_a_watch_that_is_silent_at_any_time_is_dead_after_90_seconds() {
    let mut simulation = synced("10");
    let silence = Duration::from_secs(90);
    simulation.next();
    assert_eq!(simulation.machine.watch_deadline(), Some(simulation.now + silence), "without a response");
    simulation.now += Duration::from_secs(30);
    simulation.machine.watch_started(simulation.now);
    assert_eq!(simulation.machine.watch_deadline(), Some(simulation.now + silence), "without an event");
    for event in [EventType::Modified, BOOKMARK] {
        simulation.now += Duration::from_secs(60);
        simulation.event(event, "11");
        assert_eq!(simulation.machine.watch_deadline(), Some(simulation.now + silence));
    }
}

impl Simulation {
    /// Returns whether a watch that has no event is an error.
    fn silent_watch(&mut self) -> bool {
        self.watch();
        self.now = self.machine.watch_deadline().unwrap();
        self.machine.watch_timed_out(self.now).is_some()
    }
}

#[test]
fn r07_silent_watches_of_a_server_without_bookmarks_are_an_error_once() {
    let mut simulation = synced("10");
    assert_eq!([(); 4].map(|()| simulation.silent_watch()), [true, false, false, false]);
    assert_eq!(simulation.waits, [MS(800)]);
    simulation.watch();
    simulation.event(EventType::Modified, "11");
    simulation.now = simulation.machine.watch_deadline().unwrap();
    simulation.machine.watch_timed_out(simulation.now);
    assert_eq!(simulation.watch_version(), "11");
}

#[test]
fn two_silent_watches_of_a_server_with_bookmarks_cause_a_list() {
    let mut simulation = synced("10");
    simulation.watch();
    simulation.event(BOOKMARK, "12");
    simulation.watch_ends_after(Duration::from_secs(300));
    assert!(simulation.silent_watch() && simulation.silent_watch());
    assert_eq!(simulation.list(), ("12".into(), None));
    assert!(!simulation.machine.may_go_back());
    simulation.list_fails(Failure::TooLarge);
    assert!(simulation.machine.may_go_back());
    assert_eq!(simulation.list().0, "");
    simulation.listed("5");
    assert!(!simulation.machine.may_go_back());
    assert_eq!(simulation.watch_version(), "5");
}

#[test]
fn an_older_version_causes_a_list_of_the_most_recent_one() {
    let mut simulation = synced("10");
    simulation.watch();
    let goes_back = |simulation: &Simulation, event, version| simulation.machine.goes_back(event, version);
    for (event, version) in [(EventType::Added, "9"), (EventType::Modified, "1"), (BOOKMARK, "9")] {
        assert!(goes_back(&simulation, event, version), "{event:?} {version}");
    }
    for (event, version) in [(EventType::Deleted, "9"), (BOOKMARK, "10"), (EventType::Added, "11"), (BOOKMARK, "abc")] {
        assert!(!goes_back(&simulation, event, version), "{event:?} {version}");
    }
    simulation.watch_fails(Failure::WentBack);
    assert!(simulation.machine.may_go_back());
    assert_eq!(simulation.list(), (String::new(), Some(500)));
    assert_eq!(simulation.waits, [MS(800)]);
}

#[test]
fn r07_no_timeout_overflows() {
    let watch_timeout = (Duration::MAX, Duration::MAX);
    let mut simulation = simulation(Policy { watch_timeout, idle_timeout: Some(Duration::MAX), ..policy() });
    simulation.list();
    simulation.listed("10");
    simulation.watch();
    assert_eq!(simulation.machine.watch_deadline(), None);
}

#[test]
fn r08_the_version_follows_every_known_event() {
    let mut simulation = synced("5");
    simulation.watch();
    let events = [(EventType::Added, "10"), (EventType::Modified, "20"), (EventType::Deleted, "30"), (BOOKMARK, "40")];
    for (event, version) in events {
        assert_eq!(simulation.event(event, version), Handling::Apply);
    }
    assert_eq!(simulation.event(EventType::Unknown, "50"), Handling::Ignore);
    simulation.watch_ends_after(Duration::from_secs(60));
    assert_eq!(simulation.watch_version(), "40");
}

#[test]
fn r08_a_watch_without_a_version_sets_one_only_after_its_initial_events() {
    let mut simulation = synced("");
    assert_eq!(simulation.watch_version(), "");
    simulation.event(EventType::Added, "90");
    simulation.event(EventType::Added, "20");
    simulation.watch_ends_after(Duration::from_secs(60));
    assert_eq!(simulation.watch_version(), "");
    simulation.event(EventType::Added, "90");
    simulation.event(EventType::Modified, "95");
    simulation.event(EventType::Added, "96");
    simulation.watch_ends_after(Duration::from_secs(60));
    assert_eq!(simulation.watch_version(), "96");
}

#[test]
fn r09_a_streamed_list_is_buffered_until_its_bookmark_and_the_same_watch_continues() {
    let mut simulation = streaming();
    let options = simulation.watch();
    assert!(options.send_initial_events && options.allow_watch_bookmarks);
    assert_eq!((options.resource_version_match, version(&options)), (Some("NotOlderThan"), String::new()));
    assert_eq!(simulation.event(EventType::Added, "9"), Handling::Buffer);
    assert_eq!(simulation.event(EventType::Added, "3"), Handling::Buffer);
    assert_eq!(simulation.event(EventType::Modified, "11"), Handling::Buffer);
    assert_eq!(simulation.event(BOOKMARK, "11"), Handling::Ignore);
    assert_eq!(simulation.event(INITIAL_EVENTS_END, "12"), Handling::Replace);
    assert_eq!(simulation.event(EventType::Added, "14"), Handling::Apply);
    simulation.watch_ends_after(Duration::from_secs(300));
    let next = simulation.watch();
    assert_eq!((version(&next), next.send_initial_events), ("14".into(), false));
}

#[test]
fn r09_a_relist_is_streamed_from_the_last_version() {
    let mut simulation = streaming();
    simulation.watch();
    simulation.event(INITIAL_EVENTS_END, "12");
    simulation.watch_fails(Failure::Expired);
    let again = simulation.watch();
    assert_eq!((version(&again), again.send_initial_events), ("12".into(), true));
    simulation.watch_fails(Failure::Expired);
    let newest = simulation.watch();
    assert_eq!((version(&newest), newest.send_initial_events), (String::new(), true));
    assert_eq!(simulation.waits, [MS(800)], "the most recent version without a back-off");
}

#[test]
fn r09_a_server_without_streamed_lists_is_listed_and_not_tried_again() {
    let mut simulation = streaming();
    simulation.watch();
    simulation.watch_fails(Failure::Unsupported);
    assert_eq!(simulation.list(), ("0".into(), Some(500)));
    simulation.listed("10");
    simulation.watch();
    simulation.watch_fails(Failure::Expired);
    assert_eq!(simulation.list(), ("10".into(), None));
}

#[test]
fn r09_a_server_that_treats_it_as_a_plain_watch_is_listed_and_tried_at_most_twice() {
    let mut simulation = streaming();
    for listed in ["10", "20"] {
        assert!(simulation.watch().send_initial_events);
        simulation.event(EventType::Added, "9");
        simulation.now = simulation.machine.watch_deadline().unwrap();
        assert!(matches!(simulation.machine.watch_timed_out(simulation.now), Some(ReflectorError::IncompleteStream)));
        simulation.list();
        simulation.listed(listed);
        simulation.watch();
        simulation.watch_fails(Failure::Other);
    }
    assert_eq!(simulation.list(), ("20".into(), None));
}

#[test]
fn r09_an_interrupted_stream_is_listed_this_time() {
    let mut simulation = streaming();
    simulation.watch();
    simulation.event(EventType::Added, "9");
    assert!(matches!(simulation.watch_ends_after(MS(5)), Some(ReflectorError::IncompleteStream)));
    simulation.list();
    simulation.listed("10");
    simulation.watch();
    simulation.watch_fails(Failure::Other);
    assert!(simulation.watch().send_initial_events);
}

#[test]
fn r11_an_unreadable_object_causes_a_relist_from_the_last_version() {
    let mut simulation = synced("3");
    simulation.watch();
    simulation
        .watch_fails(Failure::classify_status(&kube::core::Status::failure("", "StorageReadError").with_code(500)));
    assert_eq!(simulation.list(), ("3".into(), None));
}

#[test]
fn r12_a_410_at_the_start_of_a_watch_causes_one_relist() {
    let mut simulation = synced("10");
    simulation.watch();
    simulation.watch_fails(Failure::Expired);
    assert_eq!(simulation.list(), ("10".into(), None));
    simulation.listed("50");
    assert_eq!(simulation.watch_version(), "50");
}

#[test]
fn r12_an_expired_continue_token_causes_one_unpaginated_list() {
    let mut simulation = started();
    simulation.list();
    simulation.page("next");
    simulation.next();
    simulation.list_fails(Failure::Expired);
    assert_eq!(simulation.list(), ("0".into(), None));
    assert!(simulation.waits.is_empty());
    simulation.listed("50");
    assert_eq!(simulation.watch_version(), "50");
}

#[test]
fn r12_pagination_without_progress_causes_one_unpaginated_list() {
    let mut simulation = started();
    simulation.list();
    simulation.page("next");
    simulation.next();
    simulation.page("next");
    assert_eq!(simulation.list(), ("0".into(), None));
}

#[test]
fn i19_a_restarted_watch_reports_changes_and_not_all_objects() {
    let mut simulation = synced("10");
    simulation.watch();
    simulation.event(EventType::Modified, "12");
    simulation.watch_ends_after(Duration::from_secs(2));
    let again = simulation.watch();
    assert_eq!((version(&again), again.send_initial_events), ("12".into(), false));
    assert_eq!(simulation.event(EventType::Modified, "13"), Handling::Apply);
}

proptest! {
    /// Whatever the failures, there are few requests in a row without a wait, and the machine never stops.
    #[test]
    fn r04_nothing_is_retried_in_a_tight_loop(watch_list: bool, failures in prop::collection::vec(0..9usize, 1..200)) {
        let mut simulation = simulation(Policy { watch_list, ..policy() });
        let mut in_a_row = 0;
        for failure in failures {
            let waits = simulation.waits.len();
            let request = simulation.next();
            in_a_row = if simulation.waits.len() > waits { 1 } else { in_a_row + 1 };
            // Successful lists, pages and unsupported streams are followed by another request.
            prop_assert!(in_a_row <= 12, "{in_a_row} requests in a row");
            let kinds = [Failure::Expired, Failure::TooLarge, Failure::TooManyRequests(None), Failure::ConnectionRefused];
            let others = [Failure::Transient, Failure::Unsupported, Failure::Other];
            let kind = kinds.iter().chain(&others).nth(failure).copied();
            match (request, kind) {
                (Step::Wait(_), _) => unreachable!("`next` skips waits"),
                (Step::List(_), Some(kind)) => simulation.list_fails(kind),
                (Step::List(_), None) if failure == 7 => simulation.page("next"),
                (Step::List(_), None) => simulation.listed("10"),
                (Step::Watch(_), Some(kind)) => simulation.watch_fails(kind),
                (Step::Watch(_), None) => drop(simulation.machine.watch_ended(simulation.now)),
            }
        }
    }
}
