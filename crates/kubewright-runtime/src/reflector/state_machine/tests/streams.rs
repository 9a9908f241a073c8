//! Streamed lists, and the version that events set.

use super::*;

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
