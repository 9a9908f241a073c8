//! Lists: their versions and pages.

use super::*;

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
