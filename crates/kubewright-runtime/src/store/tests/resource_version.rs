//! Tests of the version of a store and of waiting for a version.

use std::time::Duration;

use futures::FutureExt;
use tokio::time::Instant;

use super::*;

fn at(version: &str) -> Option<ResourceVersion> {
    Some(ResourceVersion::new(version))
}

for_each_memory! {
    fn s07_the_version_advances_with_every_event,
    s07_a_transform_that_removes_metadata_does_not_break_the_version,
    s07_a_list_without_a_version_does_not_change_the_version;
    async s09_a_wait_for_a_version_ends_when_the_store_has_it_or_a_later_one,
    s09_a_cancelled_wait_leaves_nothing_behind_and_can_be_repeated,
    s09_a_deadline_ends_the_wait_and_reports_the_version_of_the_store,
    s09_versions_that_cannot_be_compared_are_an_error_and_not_an_endless_wait,
    s09_a_stopped_informer_ends_every_wait
}

fn s07_the_version_advances_with_every_event(memory: Memory) {
    let store = Store::with_memory(memory);
    assert_eq!(store.resource_version(), None);
    for (event, version) in [
        (replaced(vec![object("a", "1", "3")], "5"), "5"),
        (applied(object("a", "2", "6")), "6"),
        (applied(object("a", "2", "7")), "7"),
        (bookmark("9"), "9"),
        (deleted(object("a", "2", "10")), "10"),
        (deleted(object("a", "unknown", "11")), "11"),
        (replaced(vec![], "12"), "12"),
    ] {
        store.apply(event);
        assert_eq!(store.resource_version(), at(version));
    }
}

fn s07_a_transform_that_removes_metadata_does_not_break_the_version(memory: Memory) {
    let store = Store::with_memory(memory);
    let bare = || Arc::new(ConfigMap::default());
    store.apply(Event::Applied { object: bare(), version: ResourceVersion::new("7") });
    assert_eq!(store.resource_version(), at("7"));
    store.apply(Event::Deleted { object: bare(), version: ResourceVersion::new("8") });
    assert_eq!(store.resource_version(), at("8"));
}

fn s07_a_list_without_a_version_does_not_change_the_version(memory: Memory) {
    let store = Store::with_memory(memory);
    store.apply(replaced(vec![object("a", "1", "3")], ""));
    assert_eq!(store.resource_version(), None);
    store.apply(bookmark("5"));
    store.apply(replaced(vec![], ""));
    assert_eq!(store.resource_version(), at("5"));
}

async fn s09_a_wait_for_a_version_ends_when_the_store_has_it_or_a_later_one(memory: Memory) {
    let store = Store::<ConfigMap>::with_memory(memory);
    let requested = ResourceVersion::new("10");
    let mut wait = std::pin::pin!(store.wait_for(&requested));
    for event in [replaced(vec![], "8"), bookmark("9")] {
        assert!(wait.as_mut().now_or_never().is_none());
        store.apply(event);
    }
    assert!(wait.as_mut().now_or_never().is_none(), "versions are compared as numbers: 9 is less than 10");
    store.apply(applied(object("a", "1", "123456789012345678901234567890")));
    assert_eq!(wait.await, Ok(()));
    assert!(store.get("a", "1").is_some(), "the object of the version is stored");
    assert_eq!(store.wait_for(&requested).now_or_never(), Some(Ok(())), "the version is already reached");
}

async fn s09_a_cancelled_wait_leaves_nothing_behind_and_can_be_repeated(memory: Memory) {
    let store = Store::<ConfigMap>::with_memory(memory);
    let requested = ResourceVersion::new("2");
    for _ in 0..3 {
        assert_eq!(
            store.wait_for_within(&requested, Duration::from_secs(1)).await,
            Err(WaitError::Timeout { waited: Duration::from_secs(1), current: None })
        );
    }
    assert_eq!(store.0.progress.waiter_count(), 0);
    store.apply(bookmark("2"));
    assert_eq!(store.wait_for(&requested).await, Ok(()));
}

async fn s09_a_deadline_ends_the_wait_and_reports_the_version_of_the_store(memory: Memory) {
    let store = store_of(memory, [object("a", "1", "5")]);
    let start = Instant::now();
    let error = store.wait_for_within(&ResourceVersion::new("6"), Duration::from_secs(3)).await.unwrap_err();
    assert_eq!(start.elapsed(), Duration::from_secs(3));
    assert!(error.to_string().starts_with("after 3s the store is at version 5: "), "{error}");
}

async fn s09_versions_that_cannot_be_compared_are_an_error_and_not_an_endless_wait(memory: Memory) {
    let store = Store::<ConfigMap>::with_memory(memory);
    let not_comparable =
        |requested: &str, current| WaitError::NotComparable { requested: ResourceVersion::new(requested), current };
    for requested in ["abc", "", "0", "01"] {
        let result = store.wait_for(&ResourceVersion::new(requested)).now_or_never();
        assert_eq!(result, Some(Err(not_comparable(requested, None))));
    }
    store.apply(bookmark("abc"));
    assert_eq!(store.wait_for(&ResourceVersion::new("abc")).now_or_never(), Some(Ok(())), "equal versions match");
    let result = store.wait_for(&ResourceVersion::new("5")).now_or_never();
    let error = result.unwrap().unwrap_err();
    assert_eq!(error, not_comparable("5", at("abc")));
    assert!(error.to_string().starts_with("version `5` cannot be compared with version abc: "), "{error}");
}

async fn s09_a_stopped_informer_ends_every_wait(memory: Memory) {
    let store = store_of(memory, [object("a", "1", "5")]);
    let (reached, requested) = (ResourceVersion::new("5"), ResourceVersion::new("6"));
    let mut wait = std::pin::pin!(store.wait_for(&requested));
    assert!(wait.as_mut().now_or_never().is_none());
    store.stop();
    assert_eq!(wait.await, Err(WaitError::Stopped { current: at("5") }));
    assert_eq!(store.wait_for(&reached).await, Ok(()), "a reached version stays reached");
}
