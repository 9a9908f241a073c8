//! The watches of a controller: informers, and the mapping of their events to keys.

use std::any::TypeId;

use futures::future::BoxFuture;
use k8s_openapi::{ClusterResourceScope, apimachinery::pkg::apis::meta::v1::OwnerReference};

use super::predicate::Predicate;
use crate::{
    informer::{Delivery, Event, HandlerOptions, HandlerRegistration, Overflow, SharedInformer, Stopped},
    object::{ApiObject, ObjectKey},
    workqueue::{AddOptions, LOW_PRIORITY, WorkQueue},
};

/// The maximum number of pending events before they are coalesced. The handlers of controllers are fast, so only a
/// stalled runtime exceeds it.
const MAX_PENDING_EVENTS: usize = 4096;

/// An informer with an optional predicate on its events.
///
/// A plain informer can be used instead of a watch without a predicate.
#[derive(Clone)]
pub struct Watch<K> {
    informer: SharedInformer<K>,
    predicate: Option<Predicate<K>>,
}

impl<K: ApiObject> Watch<K> {
    /// Watches all events of this informer.
    pub fn new(informer: &SharedInformer<K>) -> Self {
        Watch { informer: informer.clone(), predicate: None }
    }

    /// Restricts the watch to events that match this predicate, in addition to earlier ones.
    #[must_use]
    pub fn with_predicate(self, predicate: Predicate<K>) -> Self {
        let predicate = match self.predicate {
            Some(before) => before.and(predicate),
            None => predicate,
        };
        Watch { predicate: Some(predicate), ..self }
    }
}

/// Converts to a [`Watch`]: an informer, or a watch.
pub trait IntoWatch {
    /// The kind of the objects.
    type Kind: ApiObject;

    /// Converts to a watch.
    fn into_watch(self) -> Watch<Self::Kind>;
}

impl<K: ApiObject> IntoWatch for Watch<K> {
    type Kind = K;

    fn into_watch(self) -> Watch<K> {
        self
    }
}

impl<K: ApiObject> IntoWatch for &SharedInformer<K> {
    type Kind = K;

    fn into_watch(self) -> Watch<K> {
        Watch::new(self)
    }
}

/// Adds the keys that an object is mapped to.
pub(super) type KeyMapping<K> = Box<dyn Fn(&K, &mut Vec<ObjectKey>) + Send + Sync>;

/// Starts a watch for a queue.
pub(super) type Subscribe = Box<dyn FnOnce(WorkQueue<ObjectKey>) -> Box<dyn Subscription> + Send>;

/// A watch that adds keys to a queue, with the kind erased.
pub(super) trait Subscription: Send + Sync {
    /// Waits until the watch has synced; `false` if it cannot.
    fn wait_for_sync(&self) -> BoxFuture<'_, bool>;
    /// Returns why the watch has not synced; `None` if it has.
    fn why_not_synced(&self) -> Option<String>;
    /// Stops adding keys. The future completes when a running call has returned.
    fn end(&self) -> BoxFuture<'static, ()>;
}

/// Adds the keys of a watch's events to a queue. It gets every event: an intermediate state can map to other keys,
/// which must be processed too.
pub(super) fn subscribe<K: ApiObject>(watch: Watch<K>, keys: KeyMapping<K>) -> Subscribe {
    Box::new(move |queue| {
        let Watch { informer, predicate } = watch;
        let delivery = Delivery::EveryEvent { cap: MAX_PENDING_EVENTS, overflow: Overflow::Coalesce };
        let options = HandlerOptions::new().delivery(delivery);
        let registration = informer.add_event_handler_with(options, move |event| {
            if predicate.as_ref().is_none_or(|predicate| predicate.matches(event)) {
                let options = AddOptions { priority: priority(event), ..AddOptions::default() };
                keys_of(event, &keys).into_iter().for_each(|key| queue.add_with(key, options));
            }
        });
        Box::new(InformerSubscription { informer, registration })
    })
}

/// Returns the priority of an event. Initial objects and resyncs have a low one, as in controller-runtime.
fn priority<K: ApiObject>(event: &Event<K>) -> i32 {
    let is_resync = |old: &K, new: &K| old.meta().resource_version == new.meta().resource_version;
    match event {
        Event::Added { initial: true, .. } => LOW_PRIORITY,
        Event::Updated { old, new } if is_resync(old, new) => LOW_PRIORITY,
        Event::Added { .. } | Event::Updated { .. } | Event::Deleted { .. } => 0,
    }
}

/// Returns the distinct keys of an event, including the keys that only the old object is mapped to.
fn keys_of<K>(event: &Event<K>, keys: &KeyMapping<K>) -> Vec<ObjectKey> {
    let mut found = Vec::new();
    if let Event::Updated { old, .. } = event {
        keys(old, &mut found);
    }
    keys(event.object(), &mut found);
    found.sort();
    found.dedup();
    found
}

/// Maps an object to its own key.
pub(super) fn object_key<K: ApiObject>() -> KeyMapping<K> {
    Box::new(|object, keys| keys.push(ObjectKey::from_object(object)))
}

/// Maps an object to the key of the `K` that is its controller, by its owner references.
pub(super) fn controller_key<K: ApiObject, O: ApiObject>() -> KeyMapping<O> {
    Box::new(|object, keys| {
        let meta = object.meta();
        let owners = meta.owner_references.iter().flatten();
        // A namespaced owner only owns objects of its namespace.
        let namespace = match TypeId::of::<K::Scope>() == TypeId::of::<ClusterResourceScope>() {
            true => "",
            false => meta.namespace.as_deref().unwrap_or_default(),
        };
        let controllers = owners.filter(|owner| is_controller_of_kind::<K>(owner));
        keys.extend(controllers.map(|owner| ObjectKey::namespaced(namespace, &owner.name)));
    })
}

/// Ignores the version: an owner reference can contain any version of the kind.
fn is_controller_of_kind<K: ApiObject>(owner: &OwnerReference) -> bool {
    let group = owner.api_version.rsplit_once('/').map_or("", |(group, _)| group);
    owner.controller == Some(true) && owner.kind == K::kind(&()) && group == K::group(&())
}

struct InformerSubscription<K> {
    informer: SharedInformer<K>,
    registration: Result<HandlerRegistration, Stopped>,
}

impl<K: ApiObject> Subscription for InformerSubscription<K> {
    fn wait_for_sync(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            match &self.registration {
                Ok(registration) => registration.wait_for_sync().await.is_ok(),
                Err(_) => false,
            }
        })
    }

    fn why_not_synced(&self) -> Option<String> {
        let registration = match &self.registration {
            Ok(registration) if registration.has_synced() => return None,
            Ok(registration) => registration,
            Err(stopped) => return Some(stopped.to_string()),
        };
        let name = registration.name();
        let reason = || match registration.is_removed() {
            true => format!("{name}: the informer is stopped"),
            false => format!("{name}: the controller has not processed all initial objects"),
        };
        Some(self.informer.why_not_synced().unwrap_or_else(reason))
    }

    fn end(&self) -> BoxFuture<'static, ()> {
        match &self.registration {
            Ok(registration) => Box::pin(registration.remove()),
            Err(_) => Box::pin(std::future::ready(())),
        }
    }
}
