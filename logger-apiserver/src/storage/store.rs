//! All objects, their resource version, and the log of changes.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Bound,
    sync::Arc,
};

use crate::{
    api::object::{Object, Stored},
    authorization::policies::Policies,
    resource::strategy::Objects,
};

/// The default number of events in the log, over all resources.
pub(crate) const DEFAULT_HISTORY: usize = 1024;

/// One change of one object.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) version: u64,
    /// The resource of the object (`plural.group`).
    pub(crate) resource: Arc<str>,
    pub(crate) before: Option<Stored>,
    pub(crate) after: Option<Stored>,
    /// The deleted object, with the version of its deletion.
    pub(crate) deleted: Option<Stored>,
}

impl Event {
    /// Returns the key of the object.
    pub(crate) fn key(&self) -> String {
        self.object().map(|object| key(object.namespace(), object.name())).unwrap_or_default()
    }

    /// Returns the namespace of the object.
    pub(crate) fn namespace(&self) -> &str {
        self.object().map_or("", |object| object.namespace())
    }

    fn object(&self) -> Option<&Stored> {
        self.after.as_ref().or(self.before.as_ref())
    }
}

/// The objects by resource and key, and the latest events.
///
/// Guarantees:
/// - Every change has its own version, larger than all versions before.
/// - The log contains all changes after [`oldest_logged`](Self::oldest_logged) without a gap, and at most the
///   configured number.
/// - Every state since [`oldest`](Self::oldest) can be listed.
#[derive(Debug)]
pub(crate) struct Store {
    version: u64,
    objects: BTreeMap<Arc<str>, BTreeMap<String, Stored>>,
    log: VecDeque<Event>,
    history: usize,
    oldest_logged: u64,
    compacted: u64,
    /// The changes since the last [`take_events`](Self::take_events).
    pending: Vec<Event>,
    /// The roles and bindings among the objects.
    policies: Policies,
}

/// The objects of a list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range<'a> {
    pub(crate) resource: &'a str,
    /// The namespace; `None` for all namespaces and for cluster-scoped resources.
    pub(crate) namespace: Option<&'a str>,
    /// The first key to list, composed by [`Range::prefix`] and a name; empty for the first object.
    pub(crate) from: &'a str,
}

impl<'a> Range<'a> {
    /// Returns the range of all objects of a resource, in one namespace or in all.
    pub(crate) fn of(resource: &'a str, namespace: Option<&'a str>) -> Self {
        Self { resource, namespace, from: "" }
    }

    /// Returns the common prefix of the keys of a namespace.
    pub(crate) fn prefix(namespace: Option<&str>) -> String {
        namespace.map(|namespace| key(namespace, "")).unwrap_or_default()
    }
}

impl Store {
    /// Creates an empty store with a log of this many events.
    pub(crate) fn new(history: usize) -> Self {
        Self {
            version: 1,
            objects: BTreeMap::new(),
            log: VecDeque::new(),
            history,
            oldest_logged: 0,
            compacted: 0,
            pending: Vec::new(),
            policies: Policies::default(),
        }
    }

    /// Restores a persisted object with the version that it has.
    #[cfg(feature = "serve")]
    pub(crate) fn restore(&mut self, resource: &str, object: Object) {
        self.policies.set(resource, &object);
        let resource = self.name_of(resource);
        let key = key(object.namespace(), object.name());
        self.objects.entry(resource).or_default().insert(key, Arc::new(object));
    }

    /// Continues at this version, so that later changes get larger ones. Earlier versions are not available.
    #[cfg(feature = "serve")]
    pub(crate) fn continue_from(&mut self, version: u64) {
        self.version = self.version.max(version);
        self.oldest_logged = self.version;
    }

    /// Returns the changes since the last call.
    pub(crate) fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.pending)
    }

    /// Returns all objects with their resources.
    pub(crate) fn objects(&self) -> impl Iterator<Item = (&Arc<str>, &Stored)> {
        self.objects.iter().flat_map(|(resource, objects)| objects.values().map(move |object| (resource, object)))
    }

    /// Returns the roles and bindings, as currently stored.
    pub(crate) fn policies(&self) -> &Policies {
        &self.policies
    }

    /// Returns the version of the latest change.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Returns the version of the latest change that is no longer in the log. A watch at an earlier version has missed
    /// events.
    pub(crate) fn oldest_logged(&self) -> u64 {
        self.oldest_logged
    }

    /// Returns the oldest version of lists and of the start of watches.
    pub(crate) fn oldest(&self) -> u64 {
        self.oldest_logged.max(self.compacted)
    }

    /// Expires all versions before the current one. Running watches are not affected.
    pub(crate) fn compact(&mut self) {
        self.compacted = self.version;
    }

    pub(crate) fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Stored> {
        self.objects.get(resource)?.get(&key(namespace, name)).cloned()
    }

    /// Returns the objects of a resource, in one namespace or in all, ordered by key.
    pub(crate) fn list(&self, resource: &str, namespace: Option<&str>) -> Vec<Stored> {
        self.entries(Range::of(resource, namespace)).map(|(_, object)| object.clone()).collect()
    }

    /// Returns the objects of a range at a version, which is not before [`oldest`](Self::oldest): the current objects
    /// with later changes reverted.
    pub(crate) fn list_at(&self, range: Range<'_>, version: u64) -> Vec<Stored> {
        let prefix = Range::prefix(range.namespace);
        let start = self.log.partition_point(|event| event.version <= version);
        let later = self.log.range(start..).rev().filter(|event| *event.resource == *range.resource);
        let mut later = later
            .map(|event| (event.key(), event))
            .filter(|(key, _)| key.starts_with(&prefix) && key.as_str() >= range.from);
        let Some(latest) = later.next() else {
            return self.entries(range).map(|(_, object)| object.clone()).collect();
        };
        let mut objects: BTreeMap<String, &Stored> =
            self.entries(range).map(|(key, object)| (key.clone(), object)).collect();
        for (key, event) in std::iter::once(latest).chain(later) {
            match &event.before {
                Some(before) => objects.insert(key, before),
                None => objects.remove(&key),
            };
        }
        objects.into_values().cloned().collect()
    }

    /// Returns whether a resource has no objects.
    pub(crate) fn is_empty(&self, resource: &str) -> bool {
        self.objects.get(resource).is_none_or(BTreeMap::is_empty)
    }

    fn entries<'a>(&'a self, range: Range<'_>) -> impl Iterator<Item = (&'a String, &'a Stored)> {
        let prefix = Range::prefix(range.namespace);
        let from = if range.from.is_empty() { prefix.clone() } else { range.from.to_owned() };
        let objects = self.objects.get(range.resource).into_iter();
        objects
            .flat_map(move |objects| objects.range::<str, _>((Bound::Included(from.as_str()), Bound::Unbounded)))
            .take_while(move |(key, _)| key.starts_with(&prefix))
    }

    /// Stores a new or changed object under the next version, and returns it as stored.
    pub(crate) fn put(&mut self, resource: &str, object: &Object) -> Stored {
        let version = self.next_version();
        let after: Stored = Arc::new(object.with_resource_version(version));
        let resource = self.name_of(resource);
        let objects = self.objects.entry(resource.clone()).or_default();
        let before = objects.insert(key(after.namespace(), after.name()), after.clone());
        self.policies.set(&resource, &after);
        self.record(Event { version, resource, before, after: Some(after.clone()), deleted: None });
        after
    }

    /// Removes an object under the next version.
    pub(crate) fn remove(&mut self, resource: &str, namespace: &str, name: &str) {
        let resource = self.name_of(resource);
        let Some(before) = self.objects.get_mut(&resource).and_then(|objects| objects.remove(&key(namespace, name)))
        else {
            return;
        };
        self.policies.remove(&resource, namespace, name);
        let version = self.next_version();
        let deleted = Some(Arc::new(before.with_resource_version(version)));
        self.record(Event { version, resource, before: Some(before), after: None, deleted });
    }

    /// Returns the first event after `version` for which `select` returns a value, and that value.
    pub(crate) fn next_event<T>(&self, version: u64, select: impl Fn(&Event) -> Option<T>) -> Option<(u64, T)> {
        let start = self.log.partition_point(|event| event.version <= version);
        self.log.range(start..).find_map(|event| Some((event.version, select(event)?)))
    }

    /// Returns the shared name of a resource, which all its events reference.
    fn name_of(&self, resource: &str) -> Arc<str> {
        self.objects.get_key_value(resource).map_or_else(|| resource.into(), |(name, _)| name.clone())
    }

    fn next_version(&mut self) -> u64 {
        self.version += 1;
        self.version
    }

    fn record(&mut self, event: Event) {
        self.pending.push(event.clone());
        self.log.push_back(event);
        if self.log.len() > self.history
            && let Some(dropped) = self.log.pop_front()
        {
            self.oldest_logged = dropped.version;
        }
    }
}

/// Returns `namespace/name`, which sorts like the keys in etcd.
fn key(namespace: &str, name: &str) -> String {
    format!("{namespace}/{name}")
}

impl Objects for Store {
    fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Stored> {
        self.get(resource, namespace, name)
    }

    fn list(&self, resource: &str, namespace: Option<&str>) -> Vec<Stored> {
        self.list(resource, namespace)
    }
}
