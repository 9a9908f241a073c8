//! All objects, their one growing version, and the log of what happened to them

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Bound,
    sync::Arc,
};

use crate::object::{Object, Stored};

/// How many events are kept for watches to start from or catch up with, over all kinds.
pub(crate) const EVENT_LOG_LEN: usize = 1024;

/// One change of one object.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) version: u64,
    /// The resource (`plural.group`) the object is of.
    pub(crate) resource: Arc<str>,
    pub(crate) before: Option<Stored>,
    pub(crate) after: Option<Stored>,
}

/// The objects by resource and key, and the newest events.
///
/// Promises: every change has its own version, larger than all before; the log holds the changes after
/// [`oldest`](Self::oldest) without a gap and never more than [`EVENT_LOG_LEN`] of them.
#[derive(Debug)]
pub(crate) struct Store {
    version: u64,
    objects: BTreeMap<String, BTreeMap<String, Stored>>,
    log: VecDeque<Event>,
    oldest: u64,
}

impl Store {
    pub(crate) fn new() -> Self {
        Self { version: 1, objects: BTreeMap::new(), log: VecDeque::new(), oldest: 0 }
    }

    /// The version of the latest change.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// The version of the latest change that is no longer in the log: watches can start there, not before.
    pub(crate) fn oldest(&self) -> u64 {
        self.oldest
    }

    pub(crate) fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Stored> {
        self.objects.get(resource)?.get(&key(namespace, name)).cloned()
    }

    /// The objects of a resource, in one namespace or in all, in the order of their keys.
    pub(crate) fn list(&self, resource: &str, namespace: Option<&str>) -> Vec<Stored> {
        let Some(objects) = self.objects.get(resource) else {
            return Vec::new();
        };
        let prefix = namespace.map(|namespace| key(namespace, "")).unwrap_or_default();
        objects
            .range::<str, _>((Bound::Included(prefix.as_str()), Bound::Unbounded))
            .take_while(|(key, _)| key.starts_with(&prefix))
            .map(|(_, object)| object.clone())
            .collect()
    }

    /// Stores an object, new or changed, under the next version, and returns it as stored.
    pub(crate) fn put(&mut self, resource: &str, object: &Object) -> Stored {
        let version = self.next_version();
        let after: Stored = Arc::new(object.at(version));
        let objects = self.objects.entry(resource.to_owned()).or_default();
        let before = objects.insert(key(after.namespace(), after.name()), after.clone());
        self.record(Event { version, resource: resource.into(), before, after: Some(after.clone()) });
        after
    }

    /// Takes an object out under the next version.
    pub(crate) fn remove(&mut self, resource: &str, namespace: &str, name: &str) {
        let Some(objects) = self.objects.get_mut(resource) else {
            return;
        };
        let Some(before) = objects.remove(&key(namespace, name)) else {
            return;
        };
        let version = self.next_version();
        self.record(Event { version, resource: resource.into(), before: Some(before), after: None });
    }

    /// The first event after `version` that means something to the reader, and what it means.
    pub(crate) fn next_event<T>(&self, version: u64, meaning: impl Fn(&Event) -> Option<T>) -> Option<(u64, T)> {
        let start = self.log.partition_point(|event| event.version <= version);
        self.log.range(start..).find_map(|event| Some((event.version, meaning(event)?)))
    }

    fn next_version(&mut self) -> u64 {
        self.version += 1;
        self.version
    }

    fn record(&mut self, event: Event) {
        self.log.push_back(event);
        if self.log.len() > EVENT_LOG_LEN
            && let Some(dropped) = self.log.pop_front()
        {
            self.oldest = dropped.version;
        }
    }
}

/// `namespace/name`, which sorts as the keys of the real server's storage do.
fn key(namespace: &str, name: &str) -> String {
    format!("{namespace}/{name}")
}
