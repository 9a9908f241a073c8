//! The store against a naive one: random histories, after each step of which both must tell and show the same.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::ConfigMap;
use proptest::prelude::*;

use super::tests::{applied, bookmark, deleted, keys, object, replaced, told, with_uid};
use super::*;
use crate::reflector::Event;

/// A state of an object. Names are few, so that they meet.
#[derive(Clone, Debug, PartialEq)]
struct Of {
    namespace: u8,
    name: u8,
    uid: u8,
    version: u32,
    values: BTreeSet<u8>,
}

#[derive(Clone, Debug)]
enum Step {
    Apply(Of),
    Delete(Of),
    Replace(Vec<Of>),
    Bookmark(u32),
    AddIndex,
}

fn of() -> impl Strategy<Value = Of> {
    (0..3u8, 0..4u8, 0..2u8, 1..8u32).prop_map(|(namespace, name, uid, version)| {
        // Of the version, so that one version of an object is one state.
        let values = (0..3).filter(|value| (version >> value) & 1 == 1).collect();
        Of { namespace, name, uid, version, values }
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => of().prop_map(Step::Apply),
        4 => of().prop_map(Step::Delete),
        3 => prop::collection::vec(of(), 0..8).prop_map(Step::Replace),
        1 => (1..9u32).prop_map(Step::Bookmark),
        1 => Just(Step::AddIndex),
    ];
    prop::collection::vec(step, 0..40)
}

impl Of {
    fn key(&self) -> (u8, u8) {
        (self.namespace, self.name)
    }

    fn text(&self) -> String {
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

/// The store as its promises describe it: one map, gone through from end to end.
#[derive(Default)]
struct Naive {
    objects: BTreeMap<(u8, u8), Of>,
    version: Option<u32>,
}

impl Naive {
    fn take(&mut self, step: &Step) -> Vec<String> {
        match step {
            Step::Apply(of) => {
                self.version = Some(of.version);
                self.put(of).into_iter().collect()
            }
            Step::Delete(of) => {
                self.version = Some(of.version);
                let gone = self.objects.remove(&of.key());
                gone.map(|_| format!("delete {}@{}", of.text(), of.version)).into_iter().collect()
            }
            Step::Replace(all) => {
                self.version = Some(9);
                let stays = |old: &Of| all.iter().any(|new| new.key() == old.key() && new.uid == old.uid);
                let (stay, gone) = std::mem::take(&mut self.objects).into_iter().partition(|(_, old)| stays(old));
                self.objects = stay;
                let gone: BTreeMap<_, Of> = gone;
                let mut told: Vec<_> =
                    gone.values().map(|old| format!("delete {}@{} (missed)", old.text(), old.version)).collect();
                told.extend(all.iter().filter_map(|new| self.put(new)));
                told
            }
            Step::Bookmark(version) => {
                self.version = Some(*version);
                Vec::new()
            }
            Step::AddIndex => Vec::new(),
        }
    }

    fn put(&mut self, new: &Of) -> Option<String> {
        match self.objects.get(&new.key()) {
            Some(old) if (old.uid, old.version) == (new.uid, new.version) => return None,
            _ => {}
        }
        Some(match self.objects.insert(new.key(), new.clone()) {
            Some(old) => format!("update {}@{}->{}", new.text(), old.version, new.version),
            None => format!("add {}@{}", new.text(), new.version),
        })
    }

    fn keys(&self, wanted: impl Fn(&Of) -> bool) -> Vec<String> {
        self.objects.values().filter(|of| wanted(of)).map(Of::text).collect()
    }
}

fn event(step: &Step) -> Option<Event<ConfigMap>> {
    Some(match step {
        Step::Apply(of) => applied(of.object()),
        Step::Delete(of) => deleted(of.object()),
        Step::Replace(all) => replaced(all.iter().map(Of::object).collect(), "9"),
        Step::Bookmark(version) => bookmark(&version.to_string()),
        Step::AddIndex => return None,
    })
}

/// Deletions that were missed come in the order of the store, which is none: here in that of their texts.
fn sorted_by_deletion(mut told: Vec<String>) -> Vec<String> {
    let missed = told.iter().take_while(|told| told.ends_with("(missed)")).count();
    told[..missed].sort();
    told
}

fn compare(store: &Store<ConfigMap>, naive: &Naive) -> Result<(), TestCaseError> {
    prop_assert_eq!(keys(&store.list()), naive.keys(|_| true));
    prop_assert_eq!(store.len(), naive.objects.len());
    prop_assert_eq!(
        store.version().map(|version| version.to_string()),
        naive.version.map(|version| version.to_string())
    );
    for namespace in 0..3 {
        let listed = keys(&store.list_namespace(&namespace.to_string()));
        prop_assert_eq!(listed, naive.keys(|of| of.namespace == namespace));
        for name in 0..4 {
            let expected = naive.objects.get(&(namespace, name)).map(Of::object);
            let got = store.get(&namespace.to_string(), &name.to_string());
            prop_assert_eq!(got.as_deref(), expected.as_ref());
        }
    }
    for value in 0..3 {
        prop_assert_eq!(keys(&store.by_index(&index(), &value)), naive.keys(|of| of.values.contains(&value)));
        for found in store.by_index(&index(), &value) {
            let there = store.get_by_key(&ObjectKey::of(&*found)).unwrap();
            prop_assert!(Arc::ptr_eq(&found, &there), "what is found is what is there");
        }
    }
    let values: BTreeSet<_> = naive.objects.values().flat_map(|of| of.values.clone()).collect();
    prop_assert_eq!(store.index_values(&index()).into_iter().collect::<BTreeSet<_>>(), values);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn s01_to_s07_hold_after_every_step_of_random_histories(steps in steps()) {
        let (store, mut naive) = (Store::default(), Naive::default());
        for step in &steps {
            let changes = match event(step) {
                Some(event) => told(store.receive(event)),
                None => {
                    drop(store.add_index(index()));
                    Vec::new()
                }
            };
            prop_assert_eq!(sorted_by_deletion(changes), naive.take(step));
            compare(&store, &naive)?;
        }
    }
}
