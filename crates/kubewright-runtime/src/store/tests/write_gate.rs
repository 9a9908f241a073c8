//! Tests of the write gate.

use std::time::Duration;

use futures::FutureExt;
use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};

use super::*;

fn key(name: &str) -> ObjectKey {
    ObjectKey::namespaced("a", name)
}

for_each_memory! {
    fn a_key_without_writes_is_caught_up,
    a_write_is_caught_up_at_its_version_and_blocks_no_other_key,
    a_write_is_caught_up_by_later_writes_of_others_and_by_bookmarks,
    the_last_of_several_writes_counts_in_any_order_of_recording,
    a_deletion_is_caught_up_when_the_object_is_deleted_recreated_or_being_deleted,
    a_deletion_is_not_caught_up_before_the_store_has_seen_the_object,
    a_creation_after_a_deletion_replaces_it,
    versions_that_cannot_be_compared_never_block,
    a_write_is_caught_up_at_the_version_of_its_namespace,
    writes_before_the_versions_went_back_are_caught_up,
    nothing_is_caught_up_before_the_first_list,
    writes_that_are_caught_up_are_removed_without_a_query,
    too_many_pending_writes_apply_to_every_key_until_the_last_is_caught_up;
    async a_wait_ends_when_the_store_has_the_write,
    a_wait_reports_the_deadline_and_the_stop
}

fn a_key_without_writes_is_caught_up(memory: Memory) {
    assert!(WriteGate::new(Store::<ConfigMap>::with_memory(memory)).is_caught_up(&key("1")));
}

fn a_write_is_caught_up_at_its_version_and_blocks_no_other_key(memory: Memory) {
    let store = store_of(memory, [object("a", "1", "5")]);
    let gate = WriteGate::new(store.clone());
    gate.record_write(&object("a", "1", "7"));
    store.apply(applied(object("a", "2", "6")));
    assert_eq!((gate.is_caught_up(&key("1")), gate.is_caught_up(&key("2"))), (false, true));
    store.apply(applied(object("a", "1", "7")));
    assert!(gate.clone().is_caught_up(&key("1")));
    assert_eq!(gate.keys(), 0, "the write is removed");
}

fn a_write_is_caught_up_by_later_writes_of_others_and_by_bookmarks(memory: Memory) {
    let store = store_of(memory, [object("a", "1", "5")]);
    let gate = WriteGate::new(store.clone());
    gate.record_write(&object("a", "1", "7"));
    gate.record_write(&object("a", "2", "8"));
    store.apply(deleted(object("a", "1", "9")));
    assert!(gate.is_caught_up(&key("1")) && gate.is_caught_up(&key("2")));
    gate.record_write(&object("a", "1", "10"));
    store.apply(bookmark("11"));
    assert!(gate.is_caught_up(&key("1")));
}

fn the_last_of_several_writes_counts_in_any_order_of_recording(memory: Memory) {
    for order in [["7", "9"], ["9", "7"]] {
        let store = store_of(memory, [object("a", "1", "5")]);
        let gate = WriteGate::new(store.clone());
        order.iter().for_each(|version| gate.record_write(&object("a", "1", version)));
        store.apply(bookmark("8"));
        assert!(!gate.is_caught_up(&key("1")));
        store.apply(bookmark("9"));
        assert!(gate.is_caught_up(&key("1")));
    }
}

fn a_deletion_is_caught_up_when_the_object_is_deleted_recreated_or_being_deleted(memory: Memory) {
    let last = || with_uid(object("a", "1", "5"), "old");
    let mut terminating = last();
    terminating.metadata.resource_version = Some("6".to_owned());
    terminating.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    let recreated = with_uid(object("a", "1", "8"), "new");
    for event in [deleted(last()), applied(terminating), applied(recreated), replaced(vec![], "9")] {
        let store = store_of(memory, [last()]);
        let gate = WriteGate::new(store.clone());
        gate.record_delete(&last());
        store.apply(bookmark("5"));
        assert!(!gate.is_caught_up(&key("1")));
        store.apply(event);
        assert!(gate.is_caught_up(&key("1")));
    }
}

fn a_deletion_is_not_caught_up_before_the_store_has_seen_the_object(memory: Memory) {
    let store = store_of(memory, [object("a", "other", "4")]);
    let gate = WriteGate::new(store.clone());
    gate.record_delete(&with_uid(object("a", "1", "6"), "old"));
    assert!(!gate.is_caught_up(&key("1")), "the object is not stored yet");
    store.apply(applied(with_uid(object("a", "1", "6"), "old")));
    assert!(!gate.is_caught_up(&key("1")));
    store.apply(deleted(with_uid(object("a", "1", "7"), "old")));
    assert!(gate.is_caught_up(&key("1")));
}

fn a_creation_after_a_deletion_replaces_it(memory: Memory) {
    let store = store_of(memory, [with_uid(object("a", "1", "5"), "old")]);
    let gate = WriteGate::new(store.clone());
    gate.record_delete(&with_uid(object("a", "1", "5"), "old"));
    gate.record_write(&with_uid(object("a", "1", "7"), "new"));
    store.apply(deleted(with_uid(object("a", "1", "6"), "old")));
    assert!(!gate.is_caught_up(&key("1")));
    store.apply(applied(with_uid(object("a", "1", "7"), "new")));
    assert!(gate.is_caught_up(&key("1")));
}

fn versions_that_cannot_be_compared_never_block(memory: Memory) {
    let store = store_of(memory, [object("a", "1", "5")]);
    let gate = WriteGate::new(store.clone());
    for version in ["abc", "", "0"] {
        gate.record_write(&object("a", "1", version));
        assert!(gate.is_caught_up(&key("1")));
    }
    gate.record_write(&object("a", "1", "7"));
    store.apply(bookmark("abc"));
    assert!(gate.is_caught_up(&key("1")));
}

fn a_write_is_caught_up_at_the_version_of_its_namespace(memory: Memory) {
    let store = Store::with_memory(memory);
    store.set_namespaces(["a", "b"].map(|namespace| Some(namespace.to_owned())));
    let at = |source, version: &str| (source, ResourceVersion::new(version));
    let apply = |event: Event<ConfigMap>, versions| {
        store.apply_from(event.filter_map(|object| Some(object.into())), versions);
    };
    apply(replaced(vec![], "5"), vec![at(0, "5"), at(1, "5")]);
    let gate = WriteGate::new(store.clone());
    let others = ["a", "b", "other"].map(|namespace| ObjectKey::namespaced(namespace, "1"));
    ["a", "b", "other"].iter().for_each(|namespace| gate.record_write(&object(namespace, "1", "7")));
    let caught_up = || others.each_ref().map(|key| gate.is_caught_up(key));
    assert_eq!(caught_up(), [false; 3]);
    apply(bookmark("8"), vec![at(0, "8")]);
    assert_eq!(caught_up(), [true, false, false], "an unwatched namespace needs all");
    apply(bookmark("9"), vec![at(1, "9")]);
    assert_eq!(caught_up(), [true; 3]);
}

fn writes_before_the_versions_went_back_are_caught_up(memory: Memory) {
    let store = store_of(memory, [object("a", "1", "50")]);
    let gate = WriteGate::new(store.clone());
    gate.record_write(&object("a", "1", "60"));
    assert!(!gate.is_caught_up(&key("1")));
    store.apply(replaced(vec![object("a", "1", "20")], "30"));
    assert!(gate.is_caught_up(&key("1")));
    gate.record_write(&object("a", "1", "31"));
    assert!(!gate.is_caught_up(&key("1")));
}

fn nothing_is_caught_up_before_the_first_list(memory: Memory) {
    let store = Store::with_memory(memory);
    let gate = WriteGate::new(store.clone());
    gate.record_write(&object("a", "1", "7"));
    gate.record_delete(&with_uid(object("a", "2", "6"), "u"));
    assert!(!gate.is_caught_up(&key("1")) && !gate.is_caught_up(&key("2")));
    store.apply(replaced(vec![object("a", "1", "7")], "8"));
    assert!(gate.is_caught_up(&key("1")) && gate.is_caught_up(&key("2")));
}

async fn a_wait_ends_when_the_store_has_the_write(memory: Memory) {
    let store = store_of(memory, [object("a", "1", "5")]);
    let gate = WriteGate::new(store.clone());
    gate.record_write(&object("a", "1", "7"));
    let key = key("1");
    let mut wait = std::pin::pin!(gate.wait(&key));
    assert!(wait.as_mut().now_or_never().is_none());
    store.apply(bookmark("6"));
    assert!(wait.as_mut().now_or_never().is_none());
    store.apply(applied(object("a", "1", "7")));
    assert_eq!(wait.await, Ok(()));
}

async fn a_wait_reports_the_deadline_and_the_stop(memory: Memory) {
    let store = store_of(memory, [object("a", "1", "5")]);
    let gate = WriteGate::new(store.clone());
    gate.record_write(&object("a", "1", "7"));
    let (key, current) = (key("1"), Some(ResourceVersion::new("5")));
    let waited = Duration::from_secs(2);
    assert_eq!(gate.wait_within(&key, waited).await, Err(WaitError::Timeout { waited, current: current.clone() }));
    let mut wait = std::pin::pin!(gate.wait(&key));
    assert!(wait.as_mut().now_or_never().is_none());
    store.stop();
    assert_eq!(wait.await, Err(WaitError::Stopped { current }));
}

fn writes_that_are_caught_up_are_removed_without_a_query(memory: Memory) {
    let store = store_of(memory, [object("a", "0", "1")]);
    let gate = WriteGate::new(store.clone());
    for i in 2..100_000_u32 {
        gate.record_write(&object("a", &i.to_string(), &i.to_string()));
        if i % 100 == 0 {
            store.apply(bookmark(&i.to_string()));
        }
        assert!(gate.keys() <= 300, "{}", gate.keys());
    }
}

fn too_many_pending_writes_apply_to_every_key_until_the_last_is_caught_up(memory: Memory) {
    let store = store_of(memory, [object("a", "0", "1")]);
    let gate = WriteGate::new(store.clone());
    for i in 2..40_000_u32 {
        gate.record_write(&object("a", &i.to_string(), &i.to_string()));
    }
    assert!(gate.keys() <= 16_384);
    store.apply(bookmark("20000"));
    assert!(!gate.is_caught_up(&key("2")) && !gate.is_caught_up(&key("another")));
    store.apply(bookmark("39998"));
    assert!(gate.is_caught_up(&key("2")) && gate.is_caught_up(&key("another")));
    assert!(!gate.is_caught_up(&key("39999")));
    store.apply(bookmark("39999"));
    assert!(gate.is_caught_up(&key("39999")));
}
