//! Allocations of compact objects: none for the lookup of a hot object, and few bytes per object.

use std::collections::BTreeMap;

use allocation_counter::measure;
use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_runtime::{Memory, Store};

use super::fixture::object;

const OBJECTS: usize = 20_000;

/// An object of about 1 kB of JSON, as an operator writes it.
fn config_map(number: usize) -> ConfigMap {
    let mut map = object(&format!("namespace-{:02}", number % 20), &format!("object-{number:06}"));
    map.metadata.uid = Some(format!("0f7f3a52-8e0b-4b5e-9d9e-{number:012}"));
    map.metadata.resource_version = Some((number + 1).to_string());
    let labels = [("app.kubernetes.io/name", "logger"), ("app.kubernetes.io/managed-by", "operator")];
    map.metadata.labels = Some(labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
    let line = |line: usize| (format!("setting-{line:02}"), format!("the value of line {line} of object {number}"));
    map.data = Some((0..14).map(line).collect::<BTreeMap<_, _>>());
    map
}

#[test]
fn a_lookup_of_a_hot_object_does_not_allocate() {
    let store = Store::<ConfigMap>::collect(Memory::Compact, (0..OBJECTS).map(config_map));
    assert!(store.get("namespace-07", "object-000107").is_some());
    let counted = measure(|| {
        assert!(store.get("namespace-07", "object-000107").is_some());
        assert!(store.get("namespace-07", "unknown").is_none());
    });
    assert_eq!(counted.count_total, 0);
}

#[test]
fn compact_objects_need_a_quarter_of_the_memory_and_it_is_released() {
    let mut stores = Vec::new();
    let mut bytes = [Memory::Plain, Memory::Compact].map(|memory| {
        let counted = measure(|| stores.push(Store::<ConfigMap>::collect(memory, (0..OBJECTS).map(config_map))));
        counted.bytes_current
    });
    // The hot objects take the same memory for any number of objects.
    let hot = measure(|| stores.push(Store::<ConfigMap>::collect(Memory::Compact, (0..OBJECTS / 10).map(config_map))));
    bytes[1] -= hot.bytes_current;
    assert!(bytes[1] * 4 < bytes[0], "{bytes:?} for {OBJECTS} objects, {} for a tenth", hot.bytes_current);
    let counted = measure(|| stores.clear());
    assert!(counted.bytes_current < -bytes[0], "{counted:?}");
}
