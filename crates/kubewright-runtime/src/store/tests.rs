//! Tests of the rules of the store, by number.

/// Declares tests of these functions for each way to hold objects in memory.
macro_rules! for_each_memory {
    (fn $($test:ident),*; async $($async_test:ident),*) => {
        for_each_memory!(mod plain: Plain; fn $($test),*; async $($async_test),*);
        #[cfg(feature = "compact")]
        for_each_memory!(mod compact: Compact; fn $($test),*; async $($async_test),*);
    };
    (mod $module:ident: $memory:ident; fn $($test:ident),*; async $($async_test:ident),*) => {
        mod $module {
            $(
                #[test]
                fn $test() {
                    super::$test(crate::Memory::$memory);
                }
            )*
            $(
                #[tokio::test(start_paused = true)]
                async fn $async_test() {
                    super::$async_test(crate::Memory::$memory).await;
                }
            )*
        }
    };
}

mod indexes;
mod resource_version;
mod write_gate;

use std::{collections::BTreeMap, sync::Barrier};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::{Expression, Selector};

use super::*;
use crate::{object::ResourceVersion, reflector::Event};

pub(super) fn object(namespace: &str, name: &str, version: &str) -> ConfigMap {
    let mut object = ConfigMap::default();
    object.metadata.namespace = Some(namespace.to_owned());
    object.metadata.name = Some(name.to_owned());
    object.metadata.resource_version = Some(version.to_owned());
    object
}

pub(super) fn with_uid(mut object: ConfigMap, uid: &str) -> ConfigMap {
    object.metadata.uid = Some(uid.to_owned());
    object
}

/// Returns the version of an event of this object, which is the object's.
fn version(object: &ConfigMap) -> ResourceVersion {
    ResourceVersion::from_object(object).unwrap()
}

pub(super) fn applied(object: ConfigMap) -> Event<ConfigMap> {
    Event::Applied { version: version(&object), object: Arc::new(object) }
}

pub(super) fn deleted(object: ConfigMap) -> Event<ConfigMap> {
    Event::Deleted { version: version(&object), object: Arc::new(object) }
}

pub(super) fn replaced(objects: Vec<ConfigMap>, version: &str) -> Event<ConfigMap> {
    let version = ResourceVersion::new(version);
    Event::Replaced { objects: objects.into_iter().map(Arc::new).collect(), version }
}

pub(super) fn bookmark(version: &str) -> Event<ConfigMap> {
    Event::Bookmark { version: ResourceVersion::new(version) }
}

/// Formats changes, such as `add a/1@7`, `update a/1@7->8` and `delete a/1@8`.
pub(super) fn describe(changes: impl IntoIterator<Item = Change<ConfigMap>>) -> Vec<String> {
    let version = |object: &Stored<ConfigMap>| object.version().unwrap_or_default().to_owned();
    let describe = |change| match change {
        Change::Added(new) => format!("add {}@{}", new.object_key(), version(&new)),
        Change::Updated { old, new } => {
            format!("update {}@{}->{}", new.object_key(), version(&old), version(&new))
        }
        Change::Deleted { object, final_state_unknown } => {
            let missed = if final_state_unknown { " (missed)" } else { "" };
            format!("delete {}@{}{missed}", object.object_key(), version(&object))
        }
    };
    changes.into_iter().map(describe).collect()
}

/// Returns the sorted keys of objects.
pub(super) fn keys(objects: &[Arc<ConfigMap>]) -> Vec<String> {
    let mut keys: Vec<_> = objects.iter().map(|object| ObjectKey::from_object(&**object)).collect();
    keys.sort();
    keys.iter().map(ToString::to_string).collect()
}

fn store_of(memory: Memory, objects: impl IntoIterator<Item = ConfigMap>) -> Store<ConfigMap> {
    let store = Store::with_memory(memory);
    objects.into_iter().for_each(|object| drop(store.apply(applied(object))));
    store
}

for_each_memory! {
    fn a_list_of_an_older_version_replaces_objects_of_equal_versions,
    s05_a_namespace_is_listed_without_other_namespaces,
    s05_label_selectors_filter_and_the_everything_selector_selects_all_objects,
    an_empty_namespace_leaves_no_entry_behind,
    deleting_an_unknown_object_is_not_a_change,
    an_object_without_a_name_is_stored_under_the_empty_name,
    s06_a_replacement_reports_deletions_first_and_no_unchanged_objects,
    s06_a_replacement_reports_a_recreated_object_as_a_deletion_and_an_addition,
    s06_an_object_that_is_listed_repeatedly_is_stored_once_in_its_last_state,
    s06_a_relist_retains_objects_that_are_stored_in_the_same_version,
    s06_a_relist_can_reuse_the_stored_object,
    s06_readers_see_one_generation_and_never_a_mix,
    a_query_result_never_changes,
    memory_of_deleted_objects_is_released;
    async
}

fn a_list_of_an_older_version_replaces_objects_of_equal_versions(memory: Memory) {
    let store = store_of(memory, [object("a", "1", "20")]);
    store.apply(bookmark("50"));
    let changes = store.apply(replaced(vec![object("a", "1", "20")], "30"));
    assert_eq!(describe(changes), ["update a/1@20->20"]);
    assert_eq!(describe(store.apply(replaced(vec![object("a", "1", "20")], "31"))), [""; 0]);
}

fn s05_a_namespace_is_listed_without_other_namespaces(memory: Memory) {
    let store =
        store_of(memory, [object("a", "1", "1"), object("b", "1", "2"), object("a", "2", "3"), object("", "1", "4")]);
    assert_eq!(keys(&store.list_namespace("a")), ["a/1", "a/2"]);
    assert_eq!(keys(&store.list_namespace("")), ["1"]);
    assert!(store.list_namespace("c").is_empty());
    assert_eq!(keys(&store.list()), ["1", "a/1", "a/2", "b/1"]);
    assert_eq!(store.len(), 4);
}

fn s05_label_selectors_filter_and_the_everything_selector_selects_all_objects(memory: Memory) {
    let labelled = |namespace: &str, name: &str, app: &str| {
        let mut object = object(namespace, name, "1");
        object.metadata.labels = Some(BTreeMap::from([("app".to_owned(), app.to_owned())]));
        object
    };
    let bare = object("a", "bare", "1");
    let store =
        store_of(memory, [labelled("a", "1", "web"), labelled("a", "2", "db"), labelled("b", "1", "web"), bare]);
    let web: Selector = Expression::Equal("app".to_owned(), "web".to_owned()).into();
    assert_eq!(keys(&store.list_matching(&web)), ["a/1", "b/1"]);
    assert_eq!(keys(&store.list_namespace_matching("a", &web)), ["a/1"]);
    let all = Selector::default();
    assert!(all.selects_all());
    assert_eq!(store.list_matching(&all).len(), 4);
    assert_eq!(keys(&store.list_namespace_matching("a", &all)), ["a/1", "a/2", "a/bare"]);
}

fn an_empty_namespace_leaves_no_entry_behind(memory: Memory) {
    let store = store_of(memory, [object("a", "1", "1")]);
    assert_eq!(describe(store.apply(deleted(object("a", "1", "2")))), ["delete a/1@2"]);
    assert_eq!((store.0.objects.read().table.capacity().1, store.len()), (0, 0));
}

fn deleting_an_unknown_object_is_not_a_change(memory: Memory) {
    assert!(Store::with_memory(memory).apply(deleted(object("a", "1", "1"))).is_empty());
}

fn an_object_without_a_name_is_stored_under_the_empty_name(memory: Memory) {
    let store = Store::with_memory(memory);
    let nameless = |version: &str| {
        let object = Arc::new(ConfigMap::default());
        Event::Applied { object, version: ResourceVersion::new(version) }
    };
    assert!(matches!(store.apply(nameless("1"))[..], [Change::Added(_)]));
    assert!(matches!(store.apply(nameless("2"))[..], [Change::Updated { .. }]));
    assert!(store.get("", "").is_some());
    let Event::Applied { object, version } = nameless("3") else { unreachable!() };
    assert_eq!(store.apply(Event::Deleted { object, version }).len(), 1);
    assert!(store.is_empty());
}

fn s06_a_replacement_reports_deletions_first_and_no_unchanged_objects(memory: Memory) {
    let store = store_of(memory, ["gone", "same", "changed"].map(|name| object("a", name, "1")));
    let new = vec![object("a", "same", "1"), object("a", "changed", "2"), object("a", "new", "3")];
    assert_eq!(
        describe(store.apply(replaced(new, "3"))),
        ["delete a/gone@1 (missed)", "update a/changed@1->2", "add a/new@3"]
    );
}

fn s06_a_replacement_reports_a_recreated_object_as_a_deletion_and_an_addition(memory: Memory) {
    let store = store_of(memory, [with_uid(object("a", "1", "1"), "old")]);
    let recreated = with_uid(object("a", "1", "2"), "new");
    assert_eq!(describe(store.apply(replaced(vec![recreated], "2"))), ["delete a/1@1 (missed)", "add a/1@2"]);
    assert_eq!(store.list()[0].metadata.uid.as_deref(), Some("new"));
}

fn s06_an_object_that_is_listed_repeatedly_is_stored_once_in_its_last_state(memory: Memory) {
    let store = store_of(memory, [object("a", "1", "1")]);
    let repeated = vec![object("a", "1", "1"), object("a", "1", "2"), object("a", "2", "1"), object("a", "2", "2")];
    let changes = describe(store.apply(replaced(repeated, "2")));
    assert_eq!(changes, ["update a/1@1->2", "add a/2@1", "update a/2@1->2"]);
    assert_eq!(store.len(), 2);
}

fn s06_a_relist_retains_objects_that_are_stored_in_the_same_version(memory: Memory) {
    let store = store_of(memory, [object("a", "1", "1"), object("a", "2", "1")]);
    let before = store.get("a", "1").unwrap();
    let again: Vec<_> = ["1", "2"].map(|name| Arc::new(object("a", name, "1"))).into();
    let new = Arc::downgrade(&again[0]);
    assert!(store.apply(Event::Replaced { objects: again, version: ResourceVersion::new("2") }).is_empty());
    assert!(Arc::ptr_eq(&before, &store.get("a", "1").unwrap()), "the stored object is retained");
    assert!(new.upgrade().is_none(), "the new copy is dropped");
    assert!(store.apply(applied(object("a", "1", "1"))).is_empty());
    assert!(Arc::ptr_eq(&before, &store.get("a", "1").unwrap()));
}

fn s06_a_relist_can_reuse_the_stored_object(memory: Memory) {
    let store = store_of(memory, [object("a", "1", "7")]);
    let stored = |name, version| store.stored_at_version("a", name, version).and_then(Stored::into_loaded);
    let known = stored("1", "7").unwrap();
    assert!(Arc::ptr_eq(&known, &store.get("a", "1").unwrap()));
    assert!(stored("1", "8").is_none() && stored("2", "7").is_none());
    let version = ResourceVersion::new("9");
    assert!(store.apply(Event::Replaced { objects: vec![known], version }).is_empty());
    assert_eq!(store.len(), 1);
}

/// Generations of 50 objects each replace one another while other threads read.
fn s06_readers_see_one_generation_and_never_a_mix(memory: Memory) {
    const SIZE: usize = 50;
    let by_version = Index::<ConfigMap>::new("by_version", |map| vec![map.metadata.resource_version.clone().unwrap()]);
    let generation = |nth: usize| {
        let name = |i: usize| format!("{}", i + nth % 2 * 10);
        replaced((0..SIZE).map(|i| object("a", &name(i), &nth.to_string())).collect(), &nth.to_string())
    };
    let store = Store::with_memory(memory);
    store.add_index(by_version).unwrap();
    store.apply(generation(1));
    let start = Barrier::new(3);
    std::thread::scope(|scope| {
        for read in [Store::list, |store: &Store<_>| store.list_namespace("a")] {
            let (store, start, by_version) = (&store, &start, &by_version);
            scope.spawn(move || {
                start.wait();
                for _ in 0..500 {
                    let seen = read(store);
                    assert_eq!(seen.len(), SIZE);
                    assert!(seen.iter().all(|object| version(object) == version(&seen[0])));
                    let found = store.by_index(by_version, version(&seen[0]).as_str()).len();
                    assert!(found == 0 || found == SIZE, "{found}");
                }
            });
        }
        start.wait();
        (2..100).for_each(|nth| drop(store.apply(generation(nth))));
    });
}

fn a_query_result_never_changes(memory: Memory) {
    let store = store_of(memory, [object("a", "1", "1")]);
    let read = store.get("a", "1").unwrap();
    store.apply(applied(object("a", "1", "2")));
    assert_eq!(version(&read).as_str(), "1");
    assert_eq!(version(&store.get_by_key(&ObjectKey::namespaced("a", "1")).unwrap()).as_str(), "2");
}

fn memory_of_deleted_objects_is_released(memory: Memory) {
    let store = store_of(memory, (0..10_000).map(|i| object("a", &i.to_string(), "1")));
    store.apply(replaced(vec![object("a", "0", "1")], "2"));
    assert_eq!(store.len(), 1);
    assert!(store.0.objects.read().table.capacity().0 < 400, "{:?}", store.0.objects.read().table.capacity());
}
