//! Allocations of the store: none for a lookup by name, and few bytes per object.

use std::sync::Arc;

use allocation_counter::measure;
use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_runtime::{Index, Lister, ObjectKey, Store};

use super::fixture::object;

const NAMESPACES: usize = 20;
const PER_NAMESPACE: usize = 500;

fn objects() -> Vec<Arc<ConfigMap>> {
    let name = |i: usize| object(&format!("namespace-{:02}", i % NAMESPACES), &format!("object-{i:06}"));
    (0..NAMESPACES * PER_NAMESPACE).map(|i| Arc::new(name(i))).collect()
}

#[test]
fn lookups_by_name_do_not_allocate() {
    let store = Store::from_iter(objects());
    let lister = Lister::new(store.clone()).namespace("namespace-07");
    let key = ObjectKey::namespaced("namespace-07", "object-000107");
    let counted = measure(|| {
        assert!(store.get("namespace-07", "object-000107").is_some());
        assert!(store.get("namespace-07", "nobody").is_none());
        assert!(store.get_by_key(&key).is_some());
        assert!(lister.get("object-000107").is_ok());
    });
    assert_eq!(counted.count_total, 0);
}

#[test]
fn listing_allocates_the_vector_only() {
    let store = Store::from_iter(objects());
    let pointer = size_of::<usize>();
    for (list, len) in [
        (&(|| store.list_namespace("namespace-07")) as &dyn Fn() -> Vec<Arc<ConfigMap>>, PER_NAMESPACE),
        (&|| store.list(), PER_NAMESPACE * NAMESPACES),
    ] {
        let counted = measure(|| assert_eq!(list().len(), len));
        assert_eq!((counted.count_total, counted.bytes_max as usize), (1, len * pointer));
    }
}

/// The maximum number of bytes per object: two entries with a pointer, and with the feature `compact` a tag.
const BYTES_PER_OBJECT: i64 = if cfg!(feature = "compact") { 72 } else { 40 };

#[test]
fn the_store_needs_few_bytes_per_object() {
    let objects = objects();
    let len = objects.len() as i64;
    let mut store = Store::default();
    let counted = measure(|| store = Store::from_iter(objects.iter().cloned()));
    assert!(counted.bytes_current <= BYTES_PER_OBJECT * len, "{} bytes for {len} objects", counted.bytes_current);
    drop(store);
}

#[test]
fn an_index_does_not_copy_names() {
    let objects = objects();
    let len = objects.len() as i64;
    let store = Store::from_iter(objects);
    let few =
        Index::from_fn("few", |map: &ConfigMap| vec![map.metadata.name.as_ref().map_or(0, |name| name.len() % 3)]);
    let counted = measure(|| store.add_index(few).unwrap());
    assert!(counted.bytes_current <= 40 * len, "{} bytes for {len} objects", counted.bytes_current);
    let each = Index::from_fn("each", |map: &ConfigMap| {
        vec![map.metadata.name.as_ref().and_then(|name| name.rsplit('-').next()?.parse::<u32>().ok())]
    });
    let counted = measure(|| store.add_index(each).unwrap());
    assert!(counted.bytes_current <= 120 * len, "{} bytes for {len} objects", counted.bytes_current);
}
