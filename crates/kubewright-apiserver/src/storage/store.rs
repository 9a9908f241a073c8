//! All objects, their resource version, and the log of changes.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Bound,
    sync::Arc,
};

use crate::{
    api::object::{Object, Stored},
    authorization::rbac::RoleBindings,
    resource::strategy::Objects,
};

/// The bounds of the log, over all resources.
#[derive(Debug, Clone, Copy)]
pub(crate) struct History {
    /// The maximum number of events.
    pub(crate) events: usize,
    /// The maximum memory of the objects that only the log contains. The latest event remains even if it needs more.
    pub(crate) bytes: usize,
}

impl Default for History {
    /// 1024 events may need 128 KiB each: most pods need less, so that the number is the bound for usual objects.
    fn default() -> Self {
        Self { events: 1024, bytes: 128 << 20 }
    }
}

/// One change of one object.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) version: u64,
    /// The resource of the object (`plural.group`).
    pub(crate) resource: Arc<str>,
    pub(crate) before: Option<Stored>,
    pub(crate) after: Option<Stored>,
    /// The deleted object, with the version of its deletion.
    pub(crate) deleted: Option<Stored>,
    /// The memory of the objects that the event adds to the log: `before` and `deleted`. `after` is the current object,
    /// or `before` of a later event.
    bytes: usize,
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
///   configured number. Its memory is bounded as well.
/// - Every state since [`oldest`](Self::oldest) can be listed.
#[derive(Debug)]
pub(crate) struct Store {
    version: u64,
    objects: BTreeMap<Arc<str>, BTreeMap<String, Stored>>,
    log: VecDeque<Arc<Event>>,
    /// The sum of [`Event::bytes`] in the log.
    log_bytes: usize,
    history: History,
    oldest_logged: u64,
    /// The version of the latest event of each resource that is no longer in the log.
    oldest_by_resource: BTreeMap<Arc<str>, u64>,
    compacted: u64,
    /// The changes since the last [`take_events`](Self::take_events).
    pending: Vec<Arc<Event>>,
    /// The events that the log dropped since the last [`take_dropped`](Self::take_dropped).
    dropped: Vec<Arc<Event>>,
    /// The roles and bindings among the objects.
    bindings: RoleBindings,
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
    pub(crate) fn new(resource: &'a str, namespace: Option<&'a str>) -> Self {
        Self { resource, namespace, from: "" }
    }

    /// Returns the common prefix of the keys of a namespace.
    pub(crate) fn prefix(namespace: Option<&str>) -> String {
        namespace.map(|namespace| key(namespace, "")).unwrap_or_default()
    }
}

impl Store {
    /// Creates an empty store with a bounded log.
    pub(crate) fn new(history: History) -> Self {
        Self {
            version: 1,
            objects: BTreeMap::new(),
            log: VecDeque::new(),
            log_bytes: 0,
            history,
            oldest_logged: 0,
            oldest_by_resource: BTreeMap::new(),
            compacted: 0,
            pending: Vec::new(),
            dropped: Vec::new(),
            bindings: RoleBindings::default(),
        }
    }

    /// Restores a persisted object with the version that it has.
    #[cfg(feature = "data-dir")]
    pub(crate) fn restore(&mut self, resource: &str, object: Object) {
        self.bindings.set(resource, &object);
        let resource = self.name_of(resource);
        let key = key(object.namespace(), object.name());
        self.objects.entry(resource).or_default().insert(key, Arc::new(object));
    }

    /// Continues at this version, so that later changes get larger ones. Earlier versions are not available.
    #[cfg(feature = "data-dir")]
    pub(crate) fn continue_from(&mut self, version: u64) {
        self.version = self.version.max(version);
        self.oldest_logged = self.version;
    }

    /// Returns the changes since the last call.
    pub(crate) fn take_events(&mut self) -> Vec<Arc<Event>> {
        std::mem::take(&mut self.pending)
    }

    /// Returns the events that the log dropped since the last call, so that their objects are freed without the lock.
    pub(crate) fn take_dropped(&mut self) -> Vec<Arc<Event>> {
        std::mem::take(&mut self.dropped)
    }

    /// Returns all objects with their resources.
    pub(crate) fn objects(&self) -> impl Iterator<Item = (&Arc<str>, &Stored)> {
        self.objects.iter().flat_map(|(resource, objects)| objects.values().map(move |object| (resource, object)))
    }

    /// Returns the roles and bindings, as currently stored.
    pub(crate) fn bindings(&self) -> &RoleBindings {
        &self.bindings
    }

    /// Returns the version of the latest change.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Returns the version of the latest change that is no longer in the log.
    pub(crate) fn oldest_logged(&self) -> u64 {
        self.oldest_logged
    }

    /// Returns whether a change of a resource after a version is no longer in the log. A watch at this version has
    /// missed events.
    pub(crate) fn has_dropped(&self, resource: &str, version: u64) -> bool {
        self.oldest_by_resource.get(resource).is_some_and(|oldest| version < *oldest)
    }

    /// Returns the oldest version of lists and of the start of watches.
    pub(crate) fn oldest(&self) -> u64 {
        self.oldest_logged().max(self.compacted)
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
        self.entries(Range::new(resource, namespace)).map(|(_, object)| object.clone()).collect()
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
    pub(crate) fn put(&mut self, resource: &str, object: Object) -> Stored {
        let version = self.next_version();
        let after: Stored = Arc::new(object.into_resource_version(version));
        let resource = self.name_of(resource);
        let objects = self.objects.entry(resource.clone()).or_default();
        let before = objects.insert(key(after.namespace(), after.name()), after.clone());
        self.bindings.set(&resource, &after);
        self.record(version, resource, before, Some(after.clone()), None);
        after
    }

    /// Removes an object under the next version.
    pub(crate) fn remove(&mut self, resource: &str, namespace: &str, name: &str) {
        let resource = self.name_of(resource);
        let Some(before) = self.objects.get_mut(&resource).and_then(|objects| objects.remove(&key(namespace, name)))
        else {
            return;
        };
        self.bindings.remove(&resource, namespace, name);
        let version = self.next_version();
        let deleted = Some(Arc::new(before.with_resource_version(version)));
        self.record(version, resource, Some(before), None, deleted);
    }

    /// Returns the first events after `version` for which `is_selected` is true, at most `max`.
    pub(crate) fn events_after(
        &self,
        version: u64,
        max: usize,
        is_selected: impl Fn(&Event) -> bool,
    ) -> Vec<Arc<Event>> {
        let start = self.log.partition_point(|event| event.version <= version);
        self.log.range(start..).filter(|event| is_selected(event)).take(max).cloned().collect()
    }

    /// Returns the shared name of a resource, which all its events reference.
    fn name_of(&self, resource: &str) -> Arc<str> {
        self.objects.get_key_value(resource).map_or_else(|| resource.into(), |(name, _)| name.clone())
    }

    fn next_version(&mut self) -> u64 {
        self.version += 1;
        self.version
    }

    fn record(
        &mut self,
        version: u64,
        resource: Arc<str>,
        before: Option<Stored>,
        after: Option<Stored>,
        deleted: Option<Stored>,
    ) {
        let bytes = [&before, &deleted].into_iter().flatten().map(|object| object.memory()).sum();
        let event = Arc::new(Event { version, resource, before, after, deleted, bytes });
        self.pending.push(event.clone());
        self.log.push_back(event);
        self.log_bytes += bytes;
        while self.is_log_full()
            && let Some(dropped) = self.log.pop_front()
        {
            self.log_bytes -= dropped.bytes;
            self.oldest_logged = dropped.version;
            self.oldest_by_resource.insert(dropped.resource.clone(), dropped.version);
            self.dropped.push(dropped);
        }
    }

    fn is_log_full(&self) -> bool {
        self.log.len() > self.history.events || self.log_bytes > self.history.bytes && self.log.len() > 1
    }
}

/// Returns `namespace/name`, which sorts like the keys in etcd.
fn key(namespace: &str, name: &str) -> String {
    [namespace, "/", name].concat()
}

impl Objects for Store {
    fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Stored> {
        self.get(resource, namespace, name)
    }

    fn list(&self, resource: &str, namespace: Option<&str>) -> Vec<Stored> {
        self.list(resource, namespace)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const BYTES: usize = 100_000;

    fn store(events: usize) -> Store {
        Store::new(History { events, bytes: BYTES })
    }

    /// Writes an object with a text of this length.
    fn put(store: &mut Store, name: &str, length: usize) {
        let fields = json!({ "metadata": { "name": name }, "data": "x".repeat(length) });
        store.put("things", Object::from_json(fields.as_object().unwrap().clone()).unwrap());
        store.take_events();
    }

    #[test]
    fn the_memory_of_the_log_is_bounded() {
        let mut store = store(1024);
        for _ in 0..100 {
            put(&mut store, "a", 10_000);
            assert!(store.log_bytes <= BYTES);
        }
        // Each replaced object needs its text twice, in its fields and as JSON.
        assert!((3..5).contains(&store.log.len()), "{}", store.log.len());
        assert_eq!(store.log.front().map(|event| event.version - 1), Some(store.oldest_logged()));
        store.remove("things", "", "a");
        assert!(store.log_bytes <= BYTES && store.log_bytes > 40_000, "{}", store.log_bytes);
    }

    #[test]
    fn the_latest_event_remains_even_if_it_needs_more() {
        let mut store = store(1024);
        (0..3).for_each(|_| put(&mut store, "a", BYTES));
        assert_eq!((store.log.len(), store.oldest_logged()), (1, store.version() - 1));
        put(&mut store, "b", 10);
        assert_eq!((store.log.len(), store.log_bytes), (1, 0));
    }

    #[test]
    fn created_objects_are_not_part_of_the_log() {
        let mut store = store(2);
        put(&mut store, "a", 10_000);
        put(&mut store, "a", 10);
        assert!(store.log_bytes > 20_000);
        for name in ["b", "c"] {
            put(&mut store, name, 10_000);
        }
        assert_eq!((store.log.len(), store.log_bytes), (2, 0));
    }
}
