//! Tests of the mutation cache.

use std::time::Duration;

use tokio::time::advance;

use super::*;

const TTL: Duration = Duration::from_secs(60);

const BY_VERSION: Index<ConfigMap> =
    Index::new("by_version", |map| map.metadata.resource_version.iter().cloned().collect());

fn read(cache: &MutationCache<ConfigMap>, name: &str) -> Option<String> {
    cache.get("a", name).and_then(|object| object.metadata.resource_version.clone())
}

for_each_memory! {
    fn ;
    async s10_the_newer_of_the_stored_and_the_written_object_is_returned,
    s10_a_missing_object_is_returned_only_with_include_adds,
    s10_a_write_expires_after_its_ttl,
    s10_lists_and_indexes_return_the_newer_states,
    s10_the_oldest_write_is_evicted,
    s10_versions_that_cannot_be_compared_return_the_stored_object
}

async fn s10_the_newer_of_the_stored_and_the_written_object_is_returned(memory: Memory) {
    let store = store_of(memory, [object("a", "1", "9")]);
    let cache = MutationCache::new(store.clone(), TTL);
    cache.record_write(object("a", "1", "7"));
    assert_eq!(read(&cache, "1").as_deref(), Some("9"));
    cache.record_write(object("a", "1", "10"));
    cache.record_write(object("a", "1", "8"));
    assert_eq!(read(&cache, "1").as_deref(), Some("10"));
    assert_eq!(cache.get_by_key(&ObjectKey::namespaced("a", "1")), cache.get("a", "1"));
    store.apply(applied(object("a", "1", "11")));
    assert_eq!(read(&cache, "1").as_deref(), Some("11"));
    assert_eq!(cache.len(), 0, "the write is removed");
}

async fn s10_a_missing_object_is_returned_only_with_include_adds(memory: Memory) {
    let store = store_of(memory, [object("a", "1", "5")]);
    let plain = MutationCache::new(store.clone(), TTL);
    let adding = MutationCache::new(store.clone(), TTL).include_adds();
    for cache in [&plain, &adding] {
        cache.record_write(object("a", "new", "7"));
    }
    assert_eq!((read(&plain, "new"), read(&adding, "new").as_deref()), (None, Some("7")));
    assert_eq!(
        (keys(&plain.list()), keys(&adding.list())),
        (vec!["a/1".to_owned()], vec!["a/1".into(), "a/new".into()])
    );
    store.apply(bookmark("8"));
    assert_eq!(read(&adding, "new"), None, "the store is newer: the object was deleted");
}

async fn s10_a_write_expires_after_its_ttl(memory: Memory) {
    let cache = MutationCache::new(store_of(memory, [object("a", "1", "5")]), TTL);
    cache.record_write(object("a", "1", "7"));
    advance(TTL - Duration::from_secs(1)).await;
    assert_eq!(read(&cache, "1").as_deref(), Some("7"));
    advance(Duration::from_secs(1)).await;
    assert_eq!(read(&cache, "1").as_deref(), Some("5"));
}

async fn s10_lists_and_indexes_return_the_newer_states(memory: Memory) {
    let store = store_of(memory, [object("a", "1", "1"), object("a", "2", "2"), object("b", "1", "3")]);
    let cache = MutationCache::new(store, TTL).include_adds();
    cache.record_write(object("a", "1", "7"));
    cache.record_write(object("c", "1", "8"));
    let versions = |objects: Vec<Arc<ConfigMap>>| {
        let mut versions: Vec<_> = objects.iter().map(|object| version(object).to_string()).collect();
        versions.sort();
        versions
    };
    assert_eq!(versions(cache.list()), ["2", "3", "7", "8"]);
    assert_eq!(versions(cache.list_namespace("a")), ["2", "7"]);
    assert_eq!(versions(cache.by_index(&BY_VERSION, "7")), ["7"]);
    assert!(cache.by_index(&BY_VERSION, "1").is_empty(), "the old value is gone");
}

async fn s10_the_oldest_write_is_evicted(memory: Memory) {
    let cache = MutationCache::new(store_of(memory, [object("a", "0", "1")]), TTL).include_adds().with_capacity(3);
    for i in 2..8 {
        cache.record_write(object("a", &i.to_string(), &i.to_string()));
    }
    assert_eq!(keys(&cache.list()), ["a/0", "a/5", "a/6", "a/7"]);
    cache.record_delete(&ObjectKey::namespaced("a", "6"));
    assert_eq!(keys(&cache.list()), ["a/0", "a/5", "a/7"]);
}

async fn s10_versions_that_cannot_be_compared_return_the_stored_object(memory: Memory) {
    let cache = MutationCache::new(store_of(memory, [object("a", "1", "5")]), TTL);
    cache.record_write(object("a", "1", "abc"));
    assert_eq!(read(&cache, "1").as_deref(), Some("5"));
    assert_eq!(cache.len(), 0);
}
