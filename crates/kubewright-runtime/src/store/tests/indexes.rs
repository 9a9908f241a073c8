//! Tests of indexes.

use super::*;

/// Indexes config maps by the texts in them.
const BY_TEXT: Index<ConfigMap> = Index::new("by_text", texts);

fn texts(map: &ConfigMap) -> Vec<String> {
    map.data.iter().flat_map(BTreeMap::values).cloned().collect()
}

fn with_texts(name: &str, version: &str, texts: &[&str]) -> ConfigMap {
    let mut object = object("a", name, version);
    object.data = Some(texts.iter().enumerate().map(|(i, text)| (i.to_string(), (*text).to_owned())).collect());
    object
}

fn found(store: &Store<ConfigMap>, value: &str) -> Vec<String> {
    keys(&store.by_index(&BY_TEXT, value))
}

fn values(store: &Store<ConfigMap>) -> Vec<String> {
    let mut values = store.index_values(&BY_TEXT);
    values.sort();
    values
}

fn indexed(memory: Memory, objects: impl IntoIterator<Item = ConfigMap>) -> Store<ConfigMap> {
    let store = Store::with_memory(memory);
    store.add_index(BY_TEXT).unwrap();
    objects.into_iter().for_each(|object| drop(store.apply(applied(object))));
    store
}

for_each_memory! {
    fn s01_an_object_is_found_under_each_of_its_values_and_not_under_old_ones,
    s02_a_value_without_objects_leaves_no_entry_and_one_with_objects_stays,
    s03_values_are_those_of_live_objects_and_keys_are_sorted,
    s04_an_index_that_is_added_late_contains_the_stored_objects,
    s04_a_second_index_of_a_name_and_an_index_after_the_stop_are_errors,
    s08_values_can_have_any_type_and_functions_can_be_closures,
    s08_a_panicking_function_breaks_neither_the_store_nor_its_other_indexes,
    a_query_by_an_unknown_index_scans_every_object;
    async
}

fn s01_an_object_is_found_under_each_of_its_values_and_not_under_old_ones(memory: Memory) {
    let store = indexed(memory, [with_texts("1", "1", &["x", "y", "x"]), with_texts("2", "2", &["y"])]);
    assert_eq!((found(&store, "x"), found(&store, "y")), (vec!["a/1".to_owned()], vec!["a/1".into(), "a/2".into()]));
    store.apply(applied(with_texts("1", "3", &["y", "z"])));
    assert!(found(&store, "x").is_empty());
    assert_eq!((found(&store, "y").len(), found(&store, "z")), (2, vec!["a/1".to_owned()]));
    let state = |value| store.by_index(&BY_TEXT, value)[0].metadata.resource_version.clone();
    assert_eq!(state("z").as_deref(), Some("3"));
    assert!(store.by_index(&BY_TEXT, "y").iter().any(|map| map.metadata.resource_version.as_deref() == Some("3")));
}

fn s02_a_value_without_objects_leaves_no_entry_and_one_with_objects_stays(memory: Memory) {
    let store = indexed(memory, [with_texts("1", "1", &["x", "y"]), with_texts("2", "2", &["y"])]);
    store.apply(deleted(with_texts("1", "3", &["text of the final state"])));
    assert_eq!(values(&store), ["y"]);
    assert_eq!(found(&store, "y"), ["a/2"]);
    store.apply(replaced(vec![], "4"));
    assert!(values(&store).is_empty());
}

fn s03_values_are_those_of_live_objects_and_keys_are_sorted(memory: Memory) {
    let store =
        indexed(memory, (0..20).map(|i| with_texts(&format!("{:02}", i * 7 % 20), &(i + 1).to_string(), &["x"])));
    store.apply(applied(with_texts("00", "30", &["y"])));
    assert_eq!(values(&store), ["x", "y"]);
    let keys: Vec<_> = store.index_keys(&BY_TEXT, "x").iter().map(ToString::to_string).collect();
    assert_eq!(keys, (1..20).map(|i| format!("a/{i:02}")).collect::<Vec<_>>());
}

fn s04_an_index_that_is_added_late_contains_the_stored_objects(memory: Memory) {
    let store = store_of(memory, [with_texts("1", "1", &["x"]), with_texts("2", "2", &["x"])]);
    store.add_index(BY_TEXT).unwrap();
    assert_eq!(found(&store, "x"), ["a/1", "a/2"]);
    store.apply(deleted(with_texts("1", "3", &[])));
    assert_eq!(found(&store, "x"), ["a/2"]);
}

fn s04_a_second_index_of_a_name_and_an_index_after_the_stop_are_errors(memory: Memory) {
    let store = indexed(memory, []);
    let taken = store.add_index(Index::from_fn(BY_TEXT.name(), |_: &ConfigMap| vec![1])).unwrap_err();
    assert_eq!(taken, IndexError::NameTaken("by_text"));
    store.stop();
    let other = Index::new("other", texts);
    let stopped = store.add_index(other).unwrap_err();
    assert_eq!(stopped, IndexError::Stopped("other"));
    assert!(!store.has_index("other") && store.has_index("by_text"));
    assert!(store.by_index(&other, "x").is_empty(), "the query scans the objects instead");
}

fn s08_values_can_have_any_type_and_functions_can_be_closures(memory: Memory) {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    enum Size {
        Small,
        Large(usize),
    }
    let min = 2;
    let by_size = Index::from_fn("by_size", move |map: &ConfigMap| match texts(map).len() {
        size if size < min => vec![Size::Small],
        size => vec![Size::Large(size)],
    });
    let store = store_of(memory, [with_texts("1", "1", &["x"]), with_texts("2", "2", &["x", "y"])]);
    for added in [false, true] {
        if added {
            store.add_index(by_size).unwrap();
        }
        assert_eq!(keys(&store.by_index(&by_size, &Size::Small)), ["a/1"]);
        assert_eq!(keys(&store.by_index(&by_size, &Size::Large(2))), ["a/2"]);
        assert_eq!(store.index_values(&by_size).len(), 2);
    }
    let same_name = Index::from_fn("by_size", |_: &ConfigMap| vec![7]);
    assert_eq!(store.by_index(&same_name, &7).len(), 2, "an index with another value type is another index");
}

fn s08_a_panicking_function_breaks_neither_the_store_nor_its_other_indexes(memory: Memory) {
    let store = indexed(memory, []);
    let panicking = Index::new("panicking", |map: &ConfigMap| match map.metadata.name.as_deref() {
        Some("bad") => panic!("a bug of the user"),
        _ => vec![0],
    });
    store.add_index(panicking).unwrap();
    store.apply(applied(with_texts("bad", "1", &["x"])));
    store.apply(applied(with_texts("good", "2", &["x"])));
    assert_eq!(found(&store, "x"), ["a/bad", "a/good"]);
    assert_eq!(keys(&store.by_index(&panicking, &0)), ["a/good"]);
    store.apply(deleted(with_texts("bad", "3", &[])));
    assert_eq!(store.len(), 1);
}

fn a_query_by_an_unknown_index_scans_every_object(memory: Memory) {
    let store = store_of(memory, [with_texts("1", "1", &["x"])]);
    assert_eq!((found(&store, "x").len(), found(&store, "y").len()), (1, 0));
    assert_eq!(values(&store), ["x"]);
}
