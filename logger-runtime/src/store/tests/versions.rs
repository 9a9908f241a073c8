//! How far a store is, and waiting for that.

use std::time::Duration;

use futures::FutureExt;
use tokio::time::Instant;

use super::*;

fn at(version: &str) -> Option<ResourceVersion> {
    Some(ResourceVersion::new(version))
}

#[test]
fn s07_the_version_moves_with_every_event() {
    let store = Store::default();
    assert_eq!(store.version(), None);
    for (event, version) in [
        (replaced(vec![object("a", "1", "3")], "5"), "5"),
        (applied(object("a", "2", "6")), "6"),
        (applied(object("a", "2", "7")), "7"),
        (bookmark("9"), "9"),
        (deleted(object("a", "2", "10")), "10"),
        (deleted(object("a", "unknown", "11")), "11"),
        (replaced(vec![], "12"), "12"),
    ] {
        store.receive(event);
        assert_eq!(store.version(), at(version));
    }
}

#[test]
fn s07_a_transform_that_drops_metadata_does_not_break_the_version() {
    let store = Store::default();
    let bare = || Arc::new(ConfigMap::default());
    store.receive(Event::Applied { object: bare(), version: ResourceVersion::new("7") });
    assert_eq!(store.version(), at("7"));
    store.receive(Event::Deleted { object: bare(), version: ResourceVersion::new("8") });
    assert_eq!(store.version(), at("8"));
}

#[test]
fn s07_a_list_whose_version_was_not_told_leaves_the_version() {
    let store = Store::default();
    store.receive(replaced(vec![object("a", "1", "3")], ""));
    assert_eq!(store.version(), None);
    store.receive(bookmark("5"));
    store.receive(replaced(vec![], ""));
    assert_eq!(store.version(), at("5"));
}

#[tokio::test(start_paused = true)]
async fn s09_who_waits_for_a_version_goes_on_once_the_store_has_it_or_a_later_one() {
    let store = Store::<ConfigMap>::default();
    let wanted = ResourceVersion::new("10");
    let mut waits = std::pin::pin!(store.wait_for(&wanted));
    for event in [replaced(vec![], "8"), bookmark("9")] {
        assert!(waits.as_mut().now_or_never().is_none());
        store.receive(event);
    }
    assert!(waits.as_mut().now_or_never().is_none(), "versions are numbers: 9 is before 10");
    store.receive(applied(object("a", "1", "123456789012345678901234567890")));
    assert_eq!(waits.await, Ok(()));
    assert!(store.get("a", "1").is_some(), "what moved the version is there");
    assert_eq!(store.wait_for(&wanted).now_or_never(), Some(Ok(())), "it is reached already");
}

#[tokio::test(start_paused = true)]
async fn s09_a_wait_that_is_cancelled_leaves_nothing_and_may_be_repeated() {
    let store = Store::<ConfigMap>::default();
    let wanted = ResourceVersion::new("2");
    for _ in 0..3 {
        assert_eq!(
            store.wait_for_within(&wanted, Duration::from_secs(1)).await,
            Err(WaitError::TooLate { waited: Duration::from_secs(1), here: None })
        );
    }
    assert_eq!(store.0.progress.waiting(), 0);
    store.receive(bookmark("2"));
    assert_eq!(store.wait_for(&wanted).await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn s09_a_deadline_ends_the_wait_and_says_how_far_the_store_is() {
    let store = store_of([object("a", "1", "5")]);
    let begin = Instant::now();
    let error = store.wait_for_within(&ResourceVersion::new("6"), Duration::from_secs(3)).await.unwrap_err();
    assert_eq!(begin.elapsed(), Duration::from_secs(3));
    assert!(error.to_string().starts_with("after 3s the store is at version 5: "), "{error}");
}

#[tokio::test(start_paused = true)]
async fn s09_versions_that_cannot_be_compared_are_an_error_and_not_a_wait_for_ever() {
    let store = Store::<ConfigMap>::default();
    let not_comparable = |wanted: &str, here| WaitError::NotComparable { wanted: ResourceVersion::new(wanted), here };
    for wanted in ["abc", "", "0", "01"] {
        let waited = store.wait_for(&ResourceVersion::new(wanted)).now_or_never();
        assert_eq!(waited, Some(Err(not_comparable(wanted, None))));
    }
    store.receive(bookmark("abc"));
    assert_eq!(store.wait_for(&ResourceVersion::new("abc")).now_or_never(), Some(Ok(())), "the same is reached");
    let waited = store.wait_for(&ResourceVersion::new("5")).now_or_never();
    let error = waited.unwrap().unwrap_err();
    assert_eq!(error, not_comparable("5", at("abc")));
    assert!(error.to_string().starts_with("version `5` cannot be compared with version abc: "), "{error}");
}

#[tokio::test(start_paused = true)]
async fn s09_a_stopped_informer_ends_every_wait() {
    let store = store_of([object("a", "1", "5")]);
    let (reached, wanted) = (ResourceVersion::new("5"), ResourceVersion::new("6"));
    let mut waits = std::pin::pin!(store.wait_for(&wanted));
    assert!(waits.as_mut().now_or_never().is_none());
    store.stop();
    assert_eq!(waits.await, Err(WaitError::Stopped { here: at("5") }));
    assert_eq!(store.wait_for(&reached).await, Ok(()), "what is reached stays reached");
}
