//! The state of the objects according to the events of one handler, and whether the events are consistent.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use kube::Resource;
use kubewright_runtime::informer::Event;
use tokio::{sync::watch, time::timeout};

/// Resource versions by object key.
pub(crate) type Versions = BTreeMap<String, String>;

/// The state built from the events of one handler. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Replica {
    versions: Arc<watch::Sender<Versions>>,
    errors: Arc<Mutex<Vec<String>>>,
    is_removed: Arc<Mutex<bool>>,
}

impl Replica {
    /// Applies an event, and records an error if it contradicts the state.
    pub(crate) fn apply<K: Resource>(&self, event: &Event<K>) {
        let (key, version) = key_and_version(event.object().as_ref());
        let before = self.versions.borrow().get(&key).cloned();
        let is_consistent = match event {
            Event::Added { .. } => before.is_none(),
            Event::Updated { old, .. } => before.as_ref() == Some(&key_and_version(old.as_ref()).1),
            Event::Deleted { .. } => before.is_some(),
        };
        if !is_consistent || *self.is_removed.lock().unwrap() {
            let kind = match event {
                Event::Added { .. } => "added",
                Event::Updated { .. } => "updated",
                Event::Deleted { .. } => "deleted",
            };
            self.errors.lock().unwrap().push(format!("{key}: {before:?}, then {kind} {version}"));
        }
        self.versions.send_modify(|versions| match event {
            Event::Deleted { .. } => drop(versions.remove(&key)),
            _ => drop(versions.insert(key, version)),
        });
    }

    /// Makes every later event an error.
    pub(crate) fn mark_removed(&self) {
        *self.is_removed.lock().unwrap() = true;
    }

    /// Waits until the state equals `expected`, and asserts that the events were consistent.
    pub(crate) async fn wait_until_equal(&self, expected: &Versions, limit: Duration, handler: &str) {
        let mut versions = self.versions.subscribe();
        let is_equal = timeout(limit, versions.wait_for(|versions| versions == expected)).await.is_ok();
        self.assert_consistent(handler);
        assert!(is_equal, "{handler}: {}", differences(&self.versions.borrow(), expected));
    }

    /// Asserts that the events were consistent and that none arrived after the removal.
    pub(crate) fn assert_consistent(&self, handler: &str) {
        let errors = self.errors.lock().unwrap();
        assert!(errors.is_empty(), "{handler} received {} inconsistent events: {:?}", errors.len(), errors.first());
    }
}

/// Returns the resource version of each object by key.
pub(crate) fn versions<'a, K: Resource + 'a>(objects: impl IntoIterator<Item = &'a K>) -> Versions {
    objects.into_iter().map(key_and_version).collect()
}

/// Describes the differences of two states.
pub(crate) fn differences(actual: &Versions, expected: &Versions) -> String {
    let wrong = actual.iter().filter(|(key, version)| expected.get(*key) != Some(version));
    let missing = expected.iter().filter(|(key, version)| actual.get(*key) != Some(version));
    format!("has {:?}, should have {:?}", wrong.collect::<Vec<_>>(), missing.collect::<Vec<_>>())
}

fn key_and_version<K: Resource>(object: &K) -> (String, String) {
    let meta = object.meta();
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    (format!("{}/{}", text(&meta.namespace), text(&meta.name)), text(&meta.resource_version))
}
