//! Watches: timeouts, silence, and versions that go back.

use super::*;

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

    /// Returns the options of the next request, which compares the version of the server.
    fn comparison(&mut self) -> ListOptions {
        let Step::Compare(options) = self.next() else { panic!("expected a comparison") };
        options
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
fn three_minutes_of_silence_without_bookmarks_compare_the_version_of_the_server() {
    let mut simulation = synced("10");
    let one_object = ListOptions { limit: Some(1), ..ListOptions::default() };
    for version in ["10", "11", "abc", "9"] {
        simulation.silent_watch();
        simulation.silent_watch();
        assert_eq!(simulation.comparison(), one_object);
        let has_gone_back = simulation.machine.compared(simulation.now, version).is_some();
        assert_eq!(has_gone_back, version == "9", "{version}");
    }
    assert!(simulation.machine.may_go_back());
    assert_eq!(simulation.list(), (String::new(), Some(500)));
}

#[test]
fn empty_watches_that_the_server_ends_count_as_silence() {
    let mut simulation = synced("10");
    for _ in 0..4 {
        simulation.watch();
        assert!(simulation.watch_ends_after(Duration::from_secs(45)).is_none());
    }
    simulation.comparison();
    simulation.machine.comparison_failed(simulation.now, Failure::Transient);
    assert_eq!(simulation.watch_version(), "10");
    assert_eq!(simulation.waits, [MS(800)]);
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
fn i19_a_restarted_watch_reports_changes_and_not_all_objects() {
    let mut simulation = synced("10");
    simulation.watch();
    simulation.event(EventType::Modified, "12");
    simulation.watch_ends_after(Duration::from_secs(2));
    let again = simulation.watch();
    assert_eq!((version(&again), again.send_initial_events), ("12".into(), false));
    assert_eq!(simulation.event(EventType::Modified, "13"), Handling::Apply);
}
