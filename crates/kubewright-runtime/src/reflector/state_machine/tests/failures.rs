//! Failures: retries and delays.

use proptest::prelude::*;

use super::*;

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
                (Step::Compare(_), _) => unreachable!("no watch is silent"),
                (Step::List(_), Some(kind)) => simulation.list_fails(kind),
                (Step::List(_), None) if failure == 7 => simulation.page("next"),
                (Step::List(_), None) => simulation.listed("10"),
                (Step::Watch(_), Some(kind)) => simulation.watch_fails(kind),
                (Step::Watch(_), None) => drop(simulation.machine.watch_ended(simulation.now)),
            }
        }
    }
}
