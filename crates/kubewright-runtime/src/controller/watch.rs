//! The watches of a controller: informers, and the mapping of their events to keys.

use std::{any::TypeId, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use k8s_openapi::{ClusterResourceScope, apimachinery::pkg::apis::meta::v1::OwnerReference};
use tokio::time::Instant;

use super::{
    mapping::{EventMapper, KeyMapping, Retries},
    predicate::Predicate,
    target::Target,
};
use crate::{
    informer::{Delivery, HandlerOptions, HandlerRegistration, Overflow, SharedInformer, Stopped, WatchSilent},
    object::{ApiObject, ObjectKey, resource_name},
    sharding::Sharding,
    store::Store,
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

    pub(super) fn informer(&self) -> &SharedInformer<K> {
        &self.informer
    }

    pub(super) fn store(&self) -> Store<K> {
        self.informer.store()
    }

    /// Returns the sharding of the informer, if it has one.
    pub(super) fn sharding(&self) -> Option<Sharding> {
        self.informer.sharding()
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

/// Starts a watch for a queue.
pub(super) type Subscribe = Box<dyn FnOnce(Target) -> Box<dyn Subscription> + Send>;

/// A watch that adds keys to a queue, with the kind erased.
pub(super) trait Subscription: Send + Sync {
    /// Waits until the watch has synced; `false` if it cannot.
    fn wait_for_sync(&self) -> BoxFuture<'_, bool>;
    /// Returns why the watch has not synced; `None` if it has.
    fn why_not_synced(&self) -> Option<String>;
    /// Returns why the objects of the informer may be outdated; `None` if they are not.
    fn why_outdated(&self, tolerance: Duration) -> Option<String>;
    /// Returns whether the informer has not synced because its requests are forbidden.
    fn is_forbidden(&self) -> bool;
    /// Returns when the initial lists of the informer last received objects; `None` if it has synced or does not run.
    fn sync_progress(&self) -> Option<Instant>;
    /// Returns an error if the API server has not responded to the informer for too long.
    fn check_watch(&self) -> Result<(), WatchSilent>;
    /// Waits until the informer fails or is stopped, and returns the reason.
    fn ended(&self) -> BoxFuture<'_, String>;
    /// Retries the mappings that panicked, without end.
    fn retry_mappings(&self) -> BoxFuture<'_, ()>;
    /// Stops adding keys. The future completes when a running call has returned.
    fn end(&self) -> BoxFuture<'static, ()>;
}

/// Adds the keys of a watch's events to a queue. It gets every event: an intermediate state can map to other keys,
/// which must be processed too.
pub(super) fn subscribe<K: ApiObject>(watch: Watch<K>, keys: KeyMapping<K>, is_reconciled_kind: bool) -> Subscribe {
    Box::new(move |target| {
        let Watch { informer, predicate } = watch;
        let delivery = Delivery::EveryEvent { cap: MAX_PENDING_EVENTS, overflow: Overflow::Coalesce };
        let options = HandlerOptions::new().delivery(delivery);
        let (kind, report, retries) = (K::kind(&()).into(), informer.panic_reporter(), Retries::default());
        let mapper = EventMapper { predicate, keys, kind, target, is_reconciled_kind, report, retries };
        let mapper = Arc::new(mapper);
        let handler = Arc::clone(&mapper);
        let registration = informer.add_event_handler_with(options, move |event| handler.handle(event));
        Box::new(InformerSubscription { informer, registration, mapper })
    })
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
    mapper: Arc<EventMapper<K>>,
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
        if let Some(failure) = self.informer.failure() {
            return Some(failure.to_string());
        }
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

    fn why_outdated(&self, tolerance: Duration) -> Option<String> {
        self.why_not_synced().or_else(|| self.informer.why_outdated(tolerance))
    }

    fn is_forbidden(&self) -> bool {
        self.informer.is_forbidden()
    }

    fn sync_progress(&self) -> Option<Instant> {
        self.informer.sync_progress()
    }

    fn check_watch(&self) -> Result<(), WatchSilent> {
        self.informer.check_watches()
    }

    fn ended(&self) -> BoxFuture<'_, String> {
        Box::pin(async {
            match &self.registration {
                Ok(registration) => registration.ended().await,
                Err(stopped) => return stopped.to_string(),
            }
            let failure = self.informer.failure().map(|failure| failure.to_string());
            failure.unwrap_or_else(|| format!("the informer of {} was stopped", resource_name::<K>()))
        })
    }

    fn retry_mappings(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.mapper.retry())
    }

    fn end(&self) -> BoxFuture<'static, ()> {
        match &self.registration {
            Ok(registration) => Box::pin(registration.remove()),
            Err(_) => Box::pin(std::future::ready(())),
        }
    }
}
