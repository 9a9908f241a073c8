//! Own writes over a store.

use std::time::Duration;

use tokio::time::advance;

use super::*;

const LIVES: Duration = Duration::from_secs(60);

const BY_VERSION: Index<ConfigMap> =
    Index::new("by_version", |map| map.metadata.resource_version.iter().cloned().collect());

fn read(overlay: &WriteOverlay<ConfigMap>, name: &str) -> Option<String> {
    overlay.get("a", name).and_then(|object| object.metadata.resource_version.clone())
}

#[tokio::test(start_paused = true)]
async fn s10_of_the_store_and_the_own_write_the_newer_is_read() {
    let store = store_of([object("a", "1", "9")]);
    let overlay = WriteOverlay::new(store.clone(), LIVES);
    overlay.written(object("a", "1", "7"));
    assert_eq!(read(&overlay, "1").as_deref(), Some("9"));
    overlay.written(object("a", "1", "10"));
    overlay.written(object("a", "1", "8"));
    assert_eq!(read(&overlay, "1").as_deref(), Some("10"));
    assert_eq!(overlay.get_by_key(&ObjectKey::namespaced("a", "1")), overlay.get("a", "1"));
    store.receive(applied(object("a", "1", "11")));
    assert_eq!(read(&overlay, "1").as_deref(), Some("11"));
    assert_eq!(overlay.writes(), 0, "it is forgotten");
}

#[tokio::test(start_paused = true)]
async fn s10_what_the_store_lacks_is_read_only_where_that_was_asked_for() {
    let store = store_of([object("a", "1", "5")]);
    let plain = WriteOverlay::new(store.clone(), LIVES);
    let adding = WriteOverlay::new(store.clone(), LIVES).adding_missing();
    for overlay in [&plain, &adding] {
        overlay.written(object("a", "new", "7"));
    }
    assert_eq!((read(&plain, "new"), read(&adding, "new").as_deref()), (None, Some("7")));
    assert_eq!(
        (keys(&plain.list()), keys(&adding.list())),
        (vec!["a/1".to_owned()], vec!["a/1".into(), "a/new".into()])
    );
    store.receive(bookmark("8"));
    assert_eq!(read(&adding, "new"), None, "the store knows better: it was deleted");
}

#[tokio::test(start_paused = true)]
async fn s10_a_write_is_read_for_its_time_and_no_longer() {
    let overlay = WriteOverlay::new(store_of([object("a", "1", "5")]), LIVES);
    overlay.written(object("a", "1", "7"));
    advance(LIVES - Duration::from_secs(1)).await;
    assert_eq!(read(&overlay, "1").as_deref(), Some("7"));
    advance(Duration::from_secs(1)).await;
    assert_eq!(read(&overlay, "1").as_deref(), Some("5"));
}

#[tokio::test(start_paused = true)]
async fn s10_lists_and_indexes_show_the_newer_states() {
    let store = store_of([object("a", "1", "1"), object("a", "2", "2"), object("b", "1", "3")]);
    let overlay = WriteOverlay::new(store, LIVES).adding_missing();
    overlay.written(object("a", "1", "7"));
    overlay.written(object("c", "1", "8"));
    let versions = |objects: Vec<Arc<ConfigMap>>| {
        let mut versions: Vec<_> = objects.iter().map(|object| version(object).to_string()).collect();
        versions.sort();
        versions
    };
    assert_eq!(versions(overlay.list()), ["2", "3", "7", "8"]);
    assert_eq!(versions(overlay.list_namespace("a")), ["2", "7"]);
    assert_eq!(versions(overlay.by_index(&BY_VERSION, "7")), ["7"]);
    assert!(overlay.by_index(&BY_VERSION, "1").is_empty(), "it is not under its old value any more");
}

#[tokio::test(start_paused = true)]
async fn s10_the_oldest_writes_give_way() {
    let overlay = WriteOverlay::new(store_of([object("a", "0", "1")]), LIVES).adding_missing().with_capacity(3);
    for i in 2..8 {
        overlay.written(object("a", &i.to_string(), &i.to_string()));
    }
    assert_eq!(keys(&overlay.list()), ["a/0", "a/5", "a/6", "a/7"]);
    overlay.deleted(&ObjectKey::namespaced("a", "6"));
    assert_eq!(keys(&overlay.list()), ["a/0", "a/5", "a/7"]);
}

#[tokio::test(start_paused = true)]
async fn s10_versions_that_cannot_be_compared_leave_the_store_as_it_is() {
    let overlay = WriteOverlay::new(store_of([object("a", "1", "5")]), LIVES);
    overlay.written(object("a", "1", "abc"));
    assert_eq!(read(&overlay, "1").as_deref(), Some("5"));
    assert_eq!(overlay.writes(), 0);
}
