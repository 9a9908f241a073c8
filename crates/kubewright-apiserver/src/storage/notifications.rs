//! Notifications of changes: for requests that wait for a version, and for the watches of a resource.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::watch::{Receiver, Sender};

use crate::{resource::definition, storage::store::Event};

/// Notifies of changes after they are persisted.
///
/// Guarantees:
/// - A change notifies the watches of its resource, and no others.
/// - A change of a definition notifies all watches: their kind may no longer be served.
/// - The memory is bounded by the number of watches.
#[derive(Debug)]
pub(crate) struct Notifications {
    /// The version of the latest change.
    latest: Sender<u64>,
    /// The version of the latest change that affects the watches of a resource, by storage key.
    watched: Mutex<BTreeMap<String, Sender<u64>>>,
}

impl Notifications {
    /// Creates the notifications of changes after a version.
    pub(super) fn new(version: u64) -> Self {
        Self { latest: Sender::new(version), watched: Mutex::default() }
    }

    /// Returns a receiver of the version of the latest change.
    pub(crate) fn subscribe(&self) -> Receiver<u64> {
        self.latest.subscribe()
    }

    /// Returns a receiver of the version of the latest change that affects the watches of a resource. It is not closed
    /// before these notifications are dropped.
    pub(crate) fn subscribe_to(&self, resource: &str) -> Receiver<u64> {
        let mut watched = self.watched.lock();
        watched.retain(|_, sender| sender.receiver_count() > 0);
        watched.entry(resource.to_owned()).or_insert_with(|| Sender::new(0)).subscribe()
    }

    /// Notifies of changes. The latest one has `version`.
    pub(super) fn notify(&self, version: u64, changes: &[Arc<Event>]) {
        advance(&self.latest, version);
        // The watches are woken without the lock.
        self.affected(changes).iter().for_each(|sender| advance(sender, version));
    }

    /// Returns the senders for the watches that these changes affect.
    fn affected(&self, changes: &[Arc<Event>]) -> Vec<Sender<u64>> {
        if changes.is_empty() {
            return Vec::new();
        }
        let watched = self.watched.lock();
        if changes.iter().any(|change| *change.resource == *definition::RESOURCE) {
            return watched.values().cloned().collect();
        }
        let mut affected = Vec::new();
        let mut previous = "";
        for resource in changes.iter().map(|change| &*change.resource) {
            // Most requests change one object.
            if resource != previous {
                affected.extend(watched.get(resource).cloned());
                previous = resource;
            }
        }
        affected
    }
}

/// Sends a version, unless a later one has been sent.
fn advance(sender: &Sender<u64>, version: u64) {
    sender.send_if_modified(|latest| {
        let is_newer = version > *latest;
        *latest = version.max(*latest);
        is_newer
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        api::object::Object,
        storage::store::{History, Store},
    };

    /// Returns the event of a new object of a resource.
    fn change(store: &mut Store, resource: &str) -> Vec<Arc<Event>> {
        let fields = json!({ "metadata": { "name": "a" } });
        store.put(resource, Object::from_json(fields.as_object().unwrap().clone()).unwrap());
        store.take_events()
    }

    #[test]
    fn a_change_notifies_the_watches_of_its_resource() {
        let (mut store, notifications) = (Store::new(History::default()), Notifications::new(1));
        let [mut pods, nodes] = ["pods", "nodes"].map(|resource| notifications.subscribe_to(resource));
        let latest = notifications.subscribe();
        notifications.notify(2, &change(&mut store, "pods"));
        let notified = |receiver: &Receiver<u64>| receiver.has_changed().unwrap();
        assert_eq!((notified(&pods), notified(&nodes), notified(&latest)), (true, false, true));
        assert_eq!(*pods.borrow_and_update(), 2);
        notifications.notify(3, &change(&mut store, definition::RESOURCE));
        assert_eq!((notified(&pods), notified(&nodes)), (true, true));
    }

    #[test]
    fn an_earlier_version_notifies_of_nothing() {
        let (mut store, notifications) = (Store::new(History::default()), Notifications::new(1));
        let mut pods = notifications.subscribe_to("pods");
        let changes = change(&mut store, "pods");
        notifications.notify(3, &changes);
        assert_eq!(*pods.borrow_and_update(), 3);
        notifications.notify(2, &changes);
        assert!(!pods.has_changed().unwrap());
    }

    #[test]
    fn resources_without_watches_need_no_memory() {
        let notifications = Notifications::new(1);
        for number in 0..100 {
            notifications.subscribe_to(&number.to_string());
        }
        assert_eq!(notifications.watched.lock().len(), 1);
    }
}
