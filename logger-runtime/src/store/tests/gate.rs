//! Reading one's own writes.

use std::time::Duration;

use futures::FutureExt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;

use super::*;

fn key(name: &str) -> ObjectKey {
    ObjectKey::namespaced("a", name)
}

#[test]
fn a_key_of_which_nothing_was_written_is_reached() {
    assert!(WriteGate::new(Store::<ConfigMap>::default()).reached(&key("1")));
}

#[test]
fn a_write_is_reached_with_its_version_and_holds_no_other_key_back() {
    let store = store_of([object("a", "1", "5")]);
    let gate = WriteGate::new(store.clone());
    gate.written(&object("a", "1", "7"));
    store.receive(applied(object("a", "2", "6")));
    assert_eq!((gate.reached(&key("1")), gate.reached(&key("2"))), (false, true));
    store.receive(applied(object("a", "1", "7")));
    assert!(gate.clone().reached(&key("1")));
    assert_eq!(gate.keys(), 0, "it is forgotten");
}

#[test]
fn a_write_is_reached_also_by_what_others_write_later_and_by_bookmarks() {
    let store = store_of([object("a", "1", "5")]);
    let gate = WriteGate::new(store.clone());
    gate.written(&object("a", "1", "7"));
    gate.written(&object("a", "2", "8"));
    store.receive(deleted(object("a", "1", "9")));
    assert!(gate.reached(&key("1")) && gate.reached(&key("2")));
    gate.written(&object("a", "1", "10"));
    store.receive(bookmark("11"));
    assert!(gate.reached(&key("1")));
}

#[test]
fn of_several_writes_the_last_counts_in_whatever_order_they_are_noted() {
    for order in [["7", "9"], ["9", "7"]] {
        let store = store_of([object("a", "1", "5")]);
        let gate = WriteGate::new(store.clone());
        order.iter().for_each(|version| gate.written(&object("a", "1", version)));
        store.receive(bookmark("8"));
        assert!(!gate.reached(&key("1")));
        store.receive(bookmark("9"));
        assert!(gate.reached(&key("1")));
    }
}

#[test]
fn a_deletion_is_reached_when_the_object_is_gone_or_another_or_being_deleted() {
    let last = || with_uid(object("a", "1", "5"), "old");
    let mut leaving = last();
    leaving.metadata.resource_version = Some("6".to_owned());
    leaving.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    let anew = with_uid(object("a", "1", "8"), "new");
    for event in [deleted(last()), applied(leaving), applied(anew), replaced(vec![], "9")] {
        let store = store_of([last()]);
        let gate = WriteGate::new(store.clone());
        gate.deleted(&last());
        store.receive(bookmark("5"));
        assert!(!gate.reached(&key("1")));
        store.receive(event);
        assert!(gate.reached(&key("1")));
    }
}

#[test]
fn a_deletion_is_not_reached_before_the_store_has_seen_the_object() {
    let store = store_of([object("a", "other", "4")]);
    let gate = WriteGate::new(store.clone());
    gate.deleted(&with_uid(object("a", "1", "6"), "old"));
    assert!(!gate.reached(&key("1")), "it does not know the object yet");
    store.receive(applied(with_uid(object("a", "1", "6"), "old")));
    assert!(!gate.reached(&key("1")));
    store.receive(deleted(with_uid(object("a", "1", "7"), "old")));
    assert!(gate.reached(&key("1")));
}

#[test]
fn a_creation_after_a_deletion_counts_alone() {
    let store = store_of([with_uid(object("a", "1", "5"), "old")]);
    let gate = WriteGate::new(store.clone());
    gate.deleted(&with_uid(object("a", "1", "5"), "old"));
    gate.written(&with_uid(object("a", "1", "7"), "new"));
    store.receive(deleted(with_uid(object("a", "1", "6"), "old")));
    assert!(!gate.reached(&key("1")));
    store.receive(applied(with_uid(object("a", "1", "7"), "new")));
    assert!(gate.reached(&key("1")));
}

#[test]
fn versions_that_cannot_be_compared_hold_nothing_back() {
    let store = store_of([object("a", "1", "5")]);
    let gate = WriteGate::new(store.clone());
    for version in ["abc", "", "0"] {
        gate.written(&object("a", "1", version));
        assert!(gate.reached(&key("1")));
    }
    gate.written(&object("a", "1", "7"));
    store.receive(bookmark("abc"));
    assert!(gate.reached(&key("1")));
}

#[test]
fn nothing_is_reached_before_the_first_list() {
    let store = Store::default();
    let gate = WriteGate::new(store.clone());
    gate.written(&object("a", "1", "7"));
    gate.deleted(&with_uid(object("a", "2", "6"), "u"));
    assert!(!gate.reached(&key("1")) && !gate.reached(&key("2")));
    store.receive(replaced(vec![object("a", "1", "7")], "8"));
    assert!(gate.reached(&key("1")) && gate.reached(&key("2")));
}

#[tokio::test(start_paused = true)]
async fn who_waits_goes_on_when_the_store_has_the_write() {
    let store = store_of([object("a", "1", "5")]);
    let gate = WriteGate::new(store.clone());
    gate.written(&object("a", "1", "7"));
    let one = key("1");
    let mut waits = std::pin::pin!(gate.wait(&one));
    assert!(waits.as_mut().now_or_never().is_none());
    store.receive(bookmark("6"));
    assert!(waits.as_mut().now_or_never().is_none());
    store.receive(applied(object("a", "1", "7")));
    assert_eq!(waits.await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn who_waits_is_told_of_the_deadline_and_of_the_stop() {
    let store = store_of([object("a", "1", "5")]);
    let gate = WriteGate::new(store.clone());
    gate.written(&object("a", "1", "7"));
    let (one, here) = (key("1"), Some(ResourceVersion::new("5")));
    let waited = Duration::from_secs(2);
    assert_eq!(gate.wait_within(&one, waited).await, Err(WaitError::TooLate { waited, here: here.clone() }));
    let mut waits = std::pin::pin!(gate.wait(&one));
    assert!(waits.as_mut().now_or_never().is_none());
    store.stop();
    assert_eq!(waits.await, Err(WaitError::Stopped { here }));
}

#[test]
fn what_is_reached_is_forgotten_though_nobody_asks() {
    let store = store_of([object("a", "0", "1")]);
    let gate = WriteGate::new(store.clone());
    for i in 2..100_000_u32 {
        gate.written(&object("a", &i.to_string(), &i.to_string()));
        if i % 100 == 0 {
            store.receive(bookmark(&i.to_string()));
        }
        assert!(gate.keys() <= 300, "{}", gate.keys());
    }
}

#[test]
fn too_many_writes_under_way_concern_every_key_until_the_last_is_reached() {
    let store = store_of([object("a", "0", "1")]);
    let gate = WriteGate::new(store.clone());
    for i in 2..40_000_u32 {
        gate.written(&object("a", &i.to_string(), &i.to_string()));
    }
    assert!(gate.keys() <= 16_384);
    store.receive(bookmark("20000"));
    assert!(!gate.reached(&key("2")) && !gate.reached(&key("of another")));
    store.receive(bookmark("39998"));
    assert!(gate.reached(&key("2")) && gate.reached(&key("of another")));
    assert!(!gate.reached(&key("39999")));
    store.receive(bookmark("39999"));
    assert!(gate.reached(&key("39999")));
}
