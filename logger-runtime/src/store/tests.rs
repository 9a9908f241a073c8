//! The rules of the store, by their numbers.

mod gate;
mod indexes;
mod overlay;
mod versions;

use std::collections::BTreeMap;
use std::sync::Barrier;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::{Expression, Selector};

use super::*;
use crate::reflector::Event;
use crate::version::ResourceVersion;

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

/// The version of an event about an object is the object's.
fn version(object: &ConfigMap) -> ResourceVersion {
    ResourceVersion::of(object).unwrap()
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

/// `add a/1@7`, `update a/1@7->8`, `delete a/1@8`
pub(super) fn told(changes: impl IntoIterator<Item = Change<ConfigMap>>) -> Vec<String> {
    let tell = |change| match change {
        Change::Added(new) => format!("add {}@{}", ObjectKey::of(&*new), version(&new)),
        Change::Updated { old, new } => {
            format!("update {}@{}->{}", ObjectKey::of(&*new), version(&old), version(&new))
        }
        Change::Deleted { object, final_state_unknown } => {
            let missed = if final_state_unknown { " (missed)" } else { "" };
            format!("delete {}@{}{missed}", ObjectKey::of(&*object), version(&object))
        }
    };
    changes.into_iter().map(tell).collect()
}

/// Their keys, sorted.
pub(super) fn keys(objects: &[Arc<ConfigMap>]) -> Vec<String> {
    let mut keys: Vec<_> = objects.iter().map(|object| ObjectKey::of(&**object)).collect();
    keys.sort();
    keys.iter().map(ToString::to_string).collect()
}

fn store_of(objects: impl IntoIterator<Item = ConfigMap>) -> Store<ConfigMap> {
    let store = Store::default();
    objects.into_iter().for_each(|object| drop(store.receive(applied(object))));
    store
}

#[test]
fn s05_a_namespace_is_listed_without_the_others() {
    let store = store_of([object("a", "1", "1"), object("b", "1", "2"), object("a", "2", "3"), object("", "1", "4")]);
    assert_eq!(keys(&store.list_namespace("a")), ["a/1", "a/2"]);
    assert_eq!(keys(&store.list_namespace("")), ["1"]);
    assert!(store.list_namespace("c").is_empty());
    assert_eq!(keys(&store.list()), ["1", "a/1", "a/2", "b/1"]);
    assert_eq!(store.len(), 4);
}

#[test]
fn s05_selectors_select_by_labels_and_the_everything_selector_everything() {
    let labelled = |namespace: &str, name: &str, app: &str| {
        let mut object = object(namespace, name, "1");
        object.metadata.labels = Some(BTreeMap::from([("app".to_owned(), app.to_owned())]));
        object
    };
    let bare = object("a", "bare", "1");
    let store = store_of([labelled("a", "1", "web"), labelled("a", "2", "db"), labelled("b", "1", "web"), bare]);
    let web: Selector = Expression::Equal("app".to_owned(), "web".to_owned()).into();
    assert_eq!(keys(&store.list_matching(&web)), ["a/1", "b/1"]);
    assert_eq!(keys(&store.list_namespace_matching("a", &web)), ["a/1"]);
    let all = Selector::default();
    assert!(all.selects_all());
    assert_eq!(store.list_matching(&all).len(), 4);
    assert_eq!(keys(&store.list_namespace_matching("a", &all)), ["a/1", "a/2", "a/bare"]);
}

#[test]
fn an_emptied_namespace_leaves_nothing_behind() {
    let store = store_of([object("a", "1", "1")]);
    assert_eq!(told(store.receive(deleted(object("a", "1", "2")))), ["delete a/1@2"]);
    assert_eq!((store.read().table.room().1, store.len()), (0, 0));
}

#[test]
fn removing_an_unknown_object_is_no_change() {
    assert!(Store::default().receive(deleted(object("a", "1", "1"))).is_empty());
}

#[test]
fn an_object_without_a_name_is_kept_under_the_empty_name() {
    let store = Store::default();
    let nameless = |version: &str| {
        let object = Arc::new(ConfigMap::default());
        Event::Applied { object, version: ResourceVersion::new(version) }
    };
    assert!(matches!(store.receive(nameless("1"))[..], [Change::Added(_)]));
    assert!(matches!(store.receive(nameless("2"))[..], [Change::Updated { .. }]));
    assert!(store.get("", "").is_some());
    let Event::Applied { object, version } = nameless("3") else { unreachable!() };
    assert_eq!(store.receive(Event::Deleted { object, version }).len(), 1);
    assert!(store.is_empty());
}

#[test]
fn s06_replacing_tells_removals_first_and_nothing_of_what_stayed() {
    let store = store_of(["gone", "same", "changed"].map(|name| object("a", name, "1")));
    let new = vec![object("a", "same", "1"), object("a", "changed", "2"), object("a", "new", "3")];
    assert_eq!(
        told(store.receive(replaced(new, "3"))),
        ["delete a/gone@1 (missed)", "update a/changed@1->2", "add a/new@3"]
    );
}

#[test]
fn s06_replacing_tells_of_an_object_made_anew_as_a_removal_and_an_addition() {
    let store = store_of([with_uid(object("a", "1", "1"), "old")]);
    let anew = with_uid(object("a", "1", "2"), "new");
    assert_eq!(told(store.receive(replaced(vec![anew], "2"))), ["delete a/1@1 (missed)", "add a/1@2"]);
    assert_eq!(store.list()[0].metadata.uid.as_deref(), Some("new"));
}

#[test]
fn s06_an_object_that_is_listed_twice_is_there_once_as_it_was_last() {
    let store = store_of([object("a", "1", "1")]);
    let twice = vec![object("a", "1", "1"), object("a", "1", "2"), object("a", "2", "1"), object("a", "2", "2")];
    assert_eq!(told(store.receive(replaced(twice, "2"))), ["update a/1@1->2", "add a/2@1", "update a/2@1->2"]);
    assert_eq!(store.len(), 2);
}

#[test]
fn s06_a_relist_keeps_the_objects_that_are_there_in_the_same_version() {
    let store = store_of([object("a", "1", "1"), object("a", "2", "1")]);
    let before = store.get("a", "1").unwrap();
    let again: Vec<_> = ["1", "2"].map(|name| Arc::new(object("a", name, "1"))).into();
    let new = Arc::downgrade(&again[0]);
    assert!(store.receive(Event::Replaced { objects: again, version: ResourceVersion::new("2") }).is_empty());
    assert!(Arc::ptr_eq(&before, &store.get("a", "1").unwrap()), "it is the one that was there");
    assert!(new.upgrade().is_none(), "the new copy is dropped");
    assert!(store.receive(applied(object("a", "1", "1"))).is_empty());
    assert!(Arc::ptr_eq(&before, &store.get("a", "1").unwrap()));
}

#[test]
fn s06_who_reads_an_object_again_can_ask_for_the_one_that_is_there() {
    let store = store_of([object("a", "1", "7")]);
    let known = store.same("a", "1", "7").unwrap();
    assert!(Arc::ptr_eq(&known, &store.get("a", "1").unwrap()));
    assert!(store.same("a", "1", "8").is_none() && store.same("a", "2", "7").is_none());
    let version = ResourceVersion::new("9");
    assert!(store.receive(Event::Replaced { objects: vec![known], version }).is_empty());
    assert_eq!(store.len(), 1);
}

/// Generations of 50 objects each take the place of one another while others read.
#[test]
fn s06_readers_see_one_generation_and_never_a_mixture() {
    const SIZE: usize = 50;
    let by_version = Index::<ConfigMap>::new("by_version", |map| vec![map.metadata.resource_version.clone().unwrap()]);
    let generation = |nth: usize| {
        let name = |i: usize| format!("{}", i + nth % 2 * 10);
        replaced((0..SIZE).map(|i| object("a", &name(i), &nth.to_string())).collect(), &nth.to_string())
    };
    let store = Store::default();
    store.add_index(by_version).unwrap();
    store.receive(generation(1));
    let begin = Barrier::new(3);
    std::thread::scope(|scope| {
        for read in [Store::list, |store: &Store<_>| store.list_namespace("a")] {
            let (store, begin, by_version) = (&store, &begin, &by_version);
            scope.spawn(move || {
                begin.wait();
                for _ in 0..500 {
                    let seen = read(store);
                    assert_eq!(seen.len(), SIZE);
                    assert!(seen.iter().all(|object| version(object) == version(&seen[0])));
                    let found = store.by_index(by_version, version(&seen[0]).as_str()).len();
                    assert!(found == 0 || found == SIZE, "{found}");
                }
            });
        }
        begin.wait();
        (2..100).for_each(|nth| drop(store.receive(generation(nth))));
    });
}

#[test]
fn what_is_read_stays_as_it_was_read() {
    let store = store_of([object("a", "1", "1")]);
    let read = store.get("a", "1").unwrap();
    store.receive(applied(object("a", "1", "2")));
    assert_eq!(version(&read).as_str(), "1");
    assert_eq!(version(&store.get_by_key(&ObjectKey::namespaced("a", "1")).unwrap()).as_str(), "2");
}

#[test]
fn what_was_once_there_takes_no_room_for_ever() {
    let store = store_of((0..10_000).map(|i| object("a", &i.to_string(), "1")));
    store.receive(replaced(vec![object("a", "0", "1")], "2"));
    assert_eq!(store.len(), 1);
    assert!(store.read().table.room().0 < 400, "{:?}", store.read().table.room());
}
