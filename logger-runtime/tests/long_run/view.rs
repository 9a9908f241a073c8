//! What a handler knows from its events alone, and whether they fit together.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube::Resource;
use logger_runtime::informer::Event;
use tokio::sync::watch;
use tokio::time::timeout;

/// Versions by key.
pub(crate) type Versions = BTreeMap<String, String>;

/// What a handler knows. A clone is the same.
#[derive(Clone, Default)]
pub(crate) struct View {
    known: Arc<watch::Sender<Versions>>,
    wrong: Arc<Mutex<Vec<String>>>,
    is_removed: Arc<Mutex<bool>>,
}

impl View {
    /// Takes an event in.
    pub(crate) fn hear<K: Resource>(&self, event: &Event<K>) {
        let (key, version) = key_and_version(event.object().as_ref());
        let before = self.known.borrow().get(&key).cloned();
        let fits = match event {
            Event::Added { .. } => before.is_none(),
            Event::Updated { old, .. } => before.as_ref() == Some(&key_and_version(old.as_ref()).1),
            Event::Deleted { .. } => before.is_some(),
        };
        if !fits || *self.is_removed.lock().unwrap() {
            let kind = match event {
                Event::Added { .. } => "added",
                Event::Updated { .. } => "updated",
                Event::Deleted { .. } => "deleted",
            };
            self.wrong.lock().unwrap().push(format!("{key}: {before:?}, then {kind} {version}"));
        }
        self.known.send_modify(|known| match event {
            Event::Deleted { .. } => drop(known.remove(&key)),
            _ => drop(known.insert(key, version)),
        });
    }

    /// From now on nothing may be heard.
    pub(crate) fn removed(&self) {
        *self.is_removed.lock().unwrap() = true;
    }

    /// Waits until this is what the handler knows, and that its events fitted.
    pub(crate) async fn becomes(&self, expected: &Versions, patience: Duration, who: &str) {
        let mut known = self.known.subscribe();
        let became = timeout(patience, known.wait_for(|known| known == expected)).await.is_ok();
        self.fitted(who);
        assert!(became, "{who}: {}", differences(&self.known.borrow(), expected));
    }

    /// Its events fitted together, and none came after the removal.
    pub(crate) fn fitted(&self, who: &str) {
        let wrong = self.wrong.lock().unwrap();
        assert!(wrong.is_empty(), "{who} heard {} events that do not fit: {:?}", wrong.len(), wrong.first());
    }
}

/// The version of each.
pub(crate) fn versions<'a, K: Resource + 'a>(objects: impl IntoIterator<Item = &'a K>) -> Versions {
    objects.into_iter().map(key_and_version).collect()
}

/// What one has and the other has not.
pub(crate) fn differences(known: &Versions, expected: &Versions) -> String {
    let wrong = known.iter().filter(|(key, version)| expected.get(*key) != Some(version));
    let missing = expected.iter().filter(|(key, version)| known.get(*key) != Some(version));
    format!("has {:?}, should have {:?}", wrong.collect::<Vec<_>>(), missing.collect::<Vec<_>>())
}

fn key_and_version<K: Resource>(object: &K) -> (String, String) {
    let meta = object.meta();
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    (format!("{}/{}", text(&meta.namespace), text(&meta.name)), text(&meta.resource_version))
}
