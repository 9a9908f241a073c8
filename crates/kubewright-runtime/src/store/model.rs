//! Property tests of the store against a simple reference model.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::ConfigMap;
use proptest::prelude::*;

use super::{
    tests::{applied, bookmark, deleted, describe, keys, object, replaced, with_uid},
    *,
};
use crate::reflector::Event;

/// A state of an object. There are few names, so that they collide.
#[derive(Clone, Debug, PartialEq)]
struct ObjectState {
    namespace: u8,
    name: u8,
    uid: u8,
    version: u32,
    values: BTreeSet<u8>,
}

#[derive(Clone, Debug)]
enum Step {
    Apply(ObjectState),
    Delete(ObjectState),
    Replace(Vec<ObjectState>),
    Bookmark(u32),
    AddIndex,
}

fn object_state() -> impl Strategy<Value = ObjectState> {
    (0..3u8, 0..4u8, 0..2u8, 1..8u32).prop_map(|(namespace, name, uid, version)| {
        // Derived from the version, so that a version of an object is one state.
        let values = (0..3).filter(|value| (version >> value) & 1 == 1).collect();
        ObjectState { namespace, name, uid, version, values }
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => object_state().prop_map(Step::Apply),
        4 => object_state().prop_map(Step::Delete),
        3 => prop::collection::vec(object_state(), 0..8).prop_map(Step::Replace),
        1 => (1..9u32).prop_map(Step::Bookmark),
        1 => Just(Step::AddIndex),
    ];
    prop::collection::vec(step, 0..40)
}

impl ObjectState {
    fn key(&self) -> (u8, u8) {
        (self.namespace, self.name)
    }

    fn key_text(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    fn object(&self) -> ConfigMap {
        let object = object(&self.namespace.to_string(), &self.name.to_string(), &self.version.to_string());
        let mut object = with_uid(object, &self.uid.to_string());
        object.data = Some(self.values.iter().map(|value| (value.to_string(), String::new())).collect());
        object
    }
}

fn index() -> Index<ConfigMap, u8> {
    Index::new("by_value", |map| map.data.iter().flat_map(BTreeMap::keys).filter_map(|key| key.parse().ok()).collect())
}

/// The store as its guarantees describe it: one map, scanned by every query.
#[derive(Default)]
struct Model {
    objects: BTreeMap<(u8, u8), ObjectState>,
    version: Option<u32>,
}

impl Model {
    fn apply(&mut self, step: &Step) -> Vec<String> {
        match step {
            Step::Apply(state) => {
                self.version = Some(state.version);
                self.upsert(state).into_iter().collect()
            }
            Step::Delete(state) => {
                self.version = Some(state.version);
                let removed = self.objects.remove(&state.key());
                removed.map(|_| format!("delete {}@{}", state.key_text(), state.version)).into_iter().collect()
            }
            Step::Replace(all) => {
                self.version = Some(9);
                let is_listed = |old: &ObjectState| all.iter().any(|new| new.key() == old.key() && new.uid == old.uid);
                let (retained, removed) =
                    std::mem::take(&mut self.objects).into_iter().partition(|(_, old)| is_listed(old));
                self.objects = retained;
                let removed: BTreeMap<_, ObjectState> = removed;
                let mut changes: Vec<_> =
                    removed.values().map(|old| format!("delete {}@{} (missed)", old.key_text(), old.version)).collect();
                changes.extend(all.iter().filter_map(|new| self.upsert(new)));
                changes
            }
            Step::Bookmark(version) => {
                self.version = Some(*version);
                Vec::new()
            }
            Step::AddIndex => Vec::new(),
        }
    }

    fn upsert(&mut self, new: &ObjectState) -> Option<String> {
        match self.objects.get(&new.key()) {
            Some(old) if (old.uid, old.version) == (new.uid, new.version) => return None,
            _ => {}
        }
        Some(match self.objects.insert(new.key(), new.clone()) {
            Some(old) => format!("update {}@{}->{}", new.key_text(), old.version, new.version),
            None => format!("add {}@{}", new.key_text(), new.version),
        })
    }

    fn keys(&self, condition: impl Fn(&ObjectState) -> bool) -> Vec<String> {
        self.objects.values().filter(|state| condition(state)).map(ObjectState::key_text).collect()
    }
}

fn event(step: &Step) -> Option<Event<ConfigMap>> {
    Some(match step {
        Step::Apply(state) => applied(state.object()),
        Step::Delete(state) => deleted(state.object()),
        Step::Replace(all) => replaced(all.iter().map(ObjectState::object).collect(), "9"),
        Step::Bookmark(version) => bookmark(&version.to_string()),
        Step::AddIndex => return None,
    })
}

/// Sorts the missed deletions, which are in the unspecified order of the store.
fn sort_missed_deletions(mut changes: Vec<String>) -> Vec<String> {
    let missed = changes.iter().take_while(|change| change.ends_with("(missed)")).count();
    changes[..missed].sort();
    changes
}

fn compare(store: &Store<ConfigMap>, model: &Model) -> Result<(), TestCaseError> {
    prop_assert_eq!(keys(&store.list()), model.keys(|_| true));
    prop_assert_eq!(store.len(), model.objects.len());
    prop_assert_eq!(
        store.resource_version().map(|version| version.to_string()),
        model.version.map(|version| version.to_string())
    );
    for namespace in 0..3 {
        let listed = keys(&store.list_namespace(&namespace.to_string()));
        prop_assert_eq!(listed, model.keys(|state| state.namespace == namespace));
        for name in 0..4 {
            let expected = model.objects.get(&(namespace, name)).map(ObjectState::object);
            let got = store.get(&namespace.to_string(), &name.to_string());
            prop_assert_eq!(got.as_deref(), expected.as_ref());
        }
    }
    for value in 0..3 {
        prop_assert_eq!(keys(&store.by_index(&index(), &value)), model.keys(|state| state.values.contains(&value)));
        for found in store.by_index(&index(), &value) {
            let stored = store.get_by_key(&ObjectKey::from_object(&*found)).unwrap();
            prop_assert!(Arc::ptr_eq(&found, &stored), "the index returns the stored object");
        }
    }
    let values: BTreeSet<_> = model.objects.values().flat_map(|state| state.values.clone()).collect();
    prop_assert_eq!(store.index_values(&index()).into_iter().collect::<BTreeSet<_>>(), values);
    Ok(())
}

fn check(memory: Memory, steps: &[Step]) -> Result<(), TestCaseError> {
    let (store, mut model) = (Store::with_memory(memory), Model::default());
    for step in steps {
        let changes = match event(step) {
            Some(event) => describe(store.apply(event)),
            None => {
                drop(store.add_index(index()));
                Vec::new()
            }
        };
        prop_assert_eq!(sort_missed_deletions(changes), model.apply(step));
        compare(&store, &model)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn s01_to_s07_hold_after_every_step_of_random_histories(steps in steps()) {
        check(Memory::Plain, &steps)?;
    }

    #[cfg(feature = "compact")]
    #[test]
    fn s01_to_s07_hold_for_compact_objects(steps in steps()) {
        check(Memory::Compact, &steps)?;
    }
}
