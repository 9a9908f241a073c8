//! List and watch with recovery, following client-go's reflector: keeps a copy of a kind's objects up to date.

mod activity;
mod backoff;
mod config;
mod deadline_timer;
mod driver;
mod failure;
mod list_buffer;
mod list_options;
mod list_watch;
mod metrics;
mod prepare;
mod selection;
mod state_machine;

use std::{fmt, sync::Arc};

use futures::{Stream, StreamExt, stream};
use kube::Api;

pub(crate) use activity::{Activity, Silence};
pub use backoff::{Backoff, ExponentialBackoff};
pub use config::{Config, DecodeErrorPolicy, InitialListStrategy};
pub use list_options::ListOptions;

pub use crate::sharding::Shard;
use crate::{
    error::Error,
    memory::Stored,
    object::{ApiObject, ResourceVersion},
};
use driver::Driver;

/// A change of the objects of a kind, in the server's order. Each has the version that a copy has after applying it.
pub type Event<K> = ObjectEvent<Arc<K>>;

/// A change with the objects as the store of an informer holds them.
pub(crate) type StoredEvent<K> = ObjectEvent<Stored<K>>;

/// An [`Event`] with objects of type `O`.
#[derive(Clone, Debug)]
pub enum ObjectEvent<O> {
    /// The complete set of objects, which replaces all previous ones.
    Replaced {
        /// All objects.
        objects: Vec<O>,
        /// The version of the list.
        version: ResourceVersion,
    },
    /// An object was created or changed.
    Applied {
        /// Its current state.
        object: O,
        /// The version of the change as the server sent it, even if a transform changed the object.
        version: ResourceVersion,
    },
    /// An object was deleted.
    Deleted {
        /// Its final state.
        object: O,
        /// The version of the deletion.
        version: ResourceVersion,
    },
    /// No object of this kind changed up to this version.
    Bookmark {
        /// The version of the watch.
        version: ResourceVersion,
    },
}

impl<O> ObjectEvent<O> {
    /// Returns the version that a copy has after applying the event.
    pub fn version(&self) -> &ResourceVersion {
        match self {
            ObjectEvent::Replaced { version, .. }
            | ObjectEvent::Applied { version, .. }
            | ObjectEvent::Deleted { version, .. }
            | ObjectEvent::Bookmark { version } => version,
        }
    }

    /// Maps the objects. An object that maps to `None` is omitted, and a change of it becomes a bookmark.
    pub(crate) fn filter_map<T>(self, to: impl Fn(O) -> Option<T>) -> ObjectEvent<T> {
        match self {
            ObjectEvent::Replaced { objects, version } => {
                ObjectEvent::Replaced { objects: objects.into_iter().filter_map(to).collect(), version }
            }
            ObjectEvent::Applied { object, version } => match to(object) {
                Some(object) => ObjectEvent::Applied { object, version },
                None => ObjectEvent::Bookmark { version },
            },
            ObjectEvent::Deleted { object, version } => match to(object) {
                Some(object) => ObjectEvent::Deleted { object, version },
                None => ObjectEvent::Bookmark { version },
            },
            ObjectEvent::Bookmark { version } => ObjectEvent::Bookmark { version },
        }
    }
}

/// Lists and watches the objects of a kind, with one request at a time.
///
/// Guarantees:
/// - applying the [events](Event) in order yields the server's objects, eventually: changes missed while the connection
///   was down are contained in the next events, as changes or as a list;
/// - it never goes back in time, unless the server does: a list is at least as new as all previous events;
/// - if the versions of the server go back, as after a restored backup, it lists the objects: at once if the server
///   sends an older version, and otherwise after two watches without bookmarks. A server without bookmarks that has
///   passed the last version in the meantime cannot be distinguished from one that did not go back;
/// - it relists only if necessary: not because a watch ended, was interrupted or rejected, or the server was busy, but
///   because the server no longer has the version (410) or keeps failing;
/// - it reports every error and retries after [`Config::backoff`]; it never retries in a tight loop;
/// - it detects dead connections: a watch without a response, an event or a bookmark for 90 s is restarted, and lists
///   have a [deadline](Config::list_timeout);
/// - an object that cannot be decoded, or whose transform panics, is skipped and reported as an
///   [object error](Error::object_error); the other objects are not affected. Its
///   [last known state](Config::last_known) is retained, so that it does not seem to be deleted. With
///   [`DecodeErrorPolicy::Fail`], the request fails instead and is retried;
/// - with a [sharding](Config::sharding), it lists the objects when the slots of this replica change;
/// - an [optional](Config::optional) kind that the server does not serve has no objects, which is not an error;
/// - a panic of the other functions in [`Config`] is an error of the request, which is retried;
/// - dropping it cancels its request; it has no background task.
///
/// The rules are those of client-go's reflector. It is a plain stream on kube's types and uses only [`ResourceVersion`]
/// and [`Error`] of this crate, so it could become part of `kube::runtime::watcher`.
///
/// By default kube's client retries requests itself, up to 15 times, if the server responds with 429, 503 or 504, and a
/// client of [`retry`](crate::retry) up to 10 times with `Retry-After`. The reflector reports such errors only after
/// that. If `default_retry` is disabled in kube's `Config`, the back-off of the reflector is the only one.
///
/// With `PartialObjectMeta<K>` instead of `K`, the server sends only metadata.
pub struct Reflector<K> {
    api: Api<K>,
    config: Config<K>,
}

impl<K> fmt::Debug for Reflector<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reflector").field("api", &self.api).field("config", &self.config).finish()
    }
}

impl<K: ApiObject> Reflector<K> {
    /// Creates a reflector with the default options.
    pub fn new(api: Api<K>) -> Self {
        Self::with_config(api, Config::default())
    }

    /// Creates a reflector with options.
    pub fn with_config(api: Api<K>, config: Config<K>) -> Self {
        Reflector { api, config }
    }

    /// Returns the endless stream of events and errors. Failed requests are retried.
    pub fn events(self) -> impl Stream<Item = Result<Event<K>, Error>> + Send {
        self.stored_events().map(|event| event.map(|event| event.filter_map(Stored::into_loaded)))
    }

    /// Returns the endless stream of events, with the objects as the store of an informer holds them.
    pub(crate) fn stored_events(self) -> impl Stream<Item = Result<StoredEvent<K>, Error>> + Send {
        let driver = Driver::new(self.api, self.config);
        stream::unfold(driver, |mut driver| async move { Some((driver.next().await, driver)) })
    }
}
