//! What a controller watches: informers, and whose keys their events are about.

use std::any::TypeId;

use futures::future::BoxFuture;
use k8s_openapi::ClusterResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

use super::predicate::Predicate;
use crate::informer::{Delivery, Event, HandlerOptions, Overflow, Registration, SharedInformer, Stopped};
use crate::key::ObjectKey;
use crate::object::ApiObject;
use crate::workqueue::{AddOptions, LOW_PRIORITY, WorkQueue};

/// So many events may wait before those of one object are joined. The handlers of controllers are quick: it takes a stall.
const EVENTS: usize = 4096;

/// An informer, and which of its events count.
///
/// Where a controller takes a watch it takes an informer too, all of whose events count.
#[derive(Clone)]
pub struct Watch<K> {
    informer: SharedInformer<K>,
    predicate: Option<Predicate<K>>,
}

impl<K: ApiObject> Watch<K> {
    /// All events of this informer.
    pub fn of(informer: &SharedInformer<K>) -> Self {
        Watch { informer: informer.clone(), predicate: None }
    }

    /// Only those that meet this, too.
    #[must_use]
    pub fn when(self, predicate: Predicate<K>) -> Self {
        let predicate = match self.predicate {
            Some(before) => before.and(predicate),
            None => predicate,
        };
        Watch { predicate: Some(predicate), ..self }
    }
}

/// What a controller can watch: an informer, or a [`Watch`] of some of its events.
pub trait IntoWatch {
    /// The kind of its objects.
    type Kind: ApiObject;

    /// The watch.
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
        Watch::of(self)
    }
}

/// Adds the keys that an object is about.
pub(super) type Keys<K> = Box<dyn Fn(&K, &mut Vec<ObjectKey>) + Send + Sync>;

/// A watch that will be, once there is a queue.
pub(super) type Subscribe = Box<dyn FnOnce(WorkQueue<ObjectKey>) -> Box<dyn Subscription> + Send>;

/// A watch that feeds a queue, of whatever kind.
pub(super) trait Subscription: Send + Sync {
    /// Whether it has synced: it waits until it has, or never will.
    fn wait_for_sync(&self) -> BoxFuture<'_, bool>;
    /// `None` if it has synced.
    fn why_not_synced(&self) -> Option<String>;
    /// Nothing more is added to the queue once what is being added is; that can be awaited.
    fn end(&self) -> BoxFuture<'static, ()>;
}

/// Feeds a queue with the keys that the events of this watch are about. It hears of every state: an object may be about
/// other keys in between, and what was worked on then is to be worked on again.
pub(super) fn subscribe<K: ApiObject>(watch: Watch<K>, keys: Keys<K>) -> Subscribe {
    Box::new(move |queue| {
        let Watch { informer, predicate } = watch;
        let delivery = Delivery::EveryEvent { cap: EVENTS, overflow: Overflow::Coalesce };
        let options = HandlerOptions::new().delivery(delivery);
        let registration = informer.add_event_handler_with(options, move |event| {
            if predicate.as_ref().is_none_or(|predicate| predicate.is_met(event)) {
                let options = AddOptions { priority: priority(event), ..AddOptions::default() };
                keys_of(event, &keys).into_iter().for_each(|key| queue.add_with(key, options));
            }
        });
        Box::new(Subscribed { informer, registration })
    })
}

/// What was there before, and what is only told again, can wait, as in controller-runtime: changes come first.
fn priority<K: ApiObject>(event: &Event<K>) -> i32 {
    let is_again = |old: &K, new: &K| old.meta().resource_version == new.meta().resource_version;
    match event {
        Event::Added { initial: true, .. } => LOW_PRIORITY,
        Event::Updated { old, new } if is_again(old, new) => LOW_PRIORITY,
        Event::Added { .. } | Event::Updated { .. } | Event::Deleted { .. } => 0,
    }
}

/// The keys that an event is about, each once: an object that is not about something any more is told there too.
fn keys_of<K>(event: &Event<K>, keys: &Keys<K>) -> Vec<ObjectKey> {
    let mut found = Vec::new();
    if let Event::Updated { old, .. } = event {
        keys(old, &mut found);
    }
    keys(event.object(), &mut found);
    found.sort();
    found.dedup();
    found
}

/// The key of the object itself.
pub(super) fn own_key<K: ApiObject>() -> Keys<K> {
    Box::new(|object, keys| keys.push(ObjectKey::of(object)))
}

/// The key of the `K` that an object says is its controller.
pub(super) fn owners_key<K: ApiObject, O: ApiObject>() -> Keys<O> {
    Box::new(|object, keys| {
        let meta = object.meta();
        let owners = meta.owner_references.iter().flatten();
        // An owner in a namespace owns objects of that namespace only.
        let namespace = match TypeId::of::<K::Scope>() == TypeId::of::<ClusterResourceScope>() {
            true => "",
            false => meta.namespace.as_deref().unwrap_or_default(),
        };
        let ours = owners.filter(|owner| is_controlled_by::<K>(owner));
        keys.extend(ours.map(|owner| ObjectKey::namespaced(namespace, &owner.name)));
    })
}

/// In whatever version: an owner may have been written through another one.
fn is_controlled_by<K: ApiObject>(owner: &OwnerReference) -> bool {
    let group = owner.api_version.rsplit_once('/').map_or("", |(group, _)| group);
    owner.controller == Some(true) && owner.kind == K::kind(&()) && group == K::group(&())
}

struct Subscribed<K> {
    informer: SharedInformer<K>,
    registration: Result<Registration, Stopped>,
}

impl<K: ApiObject> Subscription for Subscribed<K> {
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
        let why = || match registration.is_removed() {
            true => format!("{name}: the informer has stopped"),
            false => format!("{name}: the controller has not heard of every object yet"),
        };
        Some(self.informer.why_not_synced().unwrap_or_else(why))
    }

    fn end(&self) -> BoxFuture<'static, ()> {
        match &self.registration {
            Ok(registration) => Box::pin(registration.remove()),
            Err(_) => Box::pin(std::future::ready(())),
        }
    }
}
