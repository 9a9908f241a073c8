//! The reflector: lists and watches a kind, and tells what to do to a copy of it.

mod alarm;
mod backoff;
mod collected;
mod config;
mod failure;
mod machine;
mod measured;
mod options;
mod run;
mod shard;
mod wire;

use std::fmt;
use std::sync::Arc;

use futures::{Stream, stream};
use kube::Api;

pub use self::backoff::{Backoff, ExponentialBackoff};
pub use self::config::{Config, InitialSync};
pub use self::options::ListOptions;
pub use self::shard::Shard;
use crate::error::Error;
use crate::object::ApiObject;
use crate::version::ResourceVersion;

/// What to do to a copy of a kind's objects, in the server's order. The version is how far the copy is then.
#[derive(Clone, Debug)]
pub enum Event<K> {
    /// These are all there are: put them in place of what was there.
    Replaced {
        /// All objects.
        objects: Vec<Arc<K>>,
        /// The version of the list.
        version: ResourceVersion,
    },
    /// This object is new or was changed.
    Applied {
        /// As it is now.
        object: Arc<K>,
        /// The version of the change; as the server told it, whatever a transform did to the object.
        version: ResourceVersion,
    },
    /// This object is gone.
    Deleted {
        /// Its final state.
        object: Arc<K>,
        /// The version of the deletion.
        version: ResourceVersion,
    },
    /// Nothing of this kind changed up to this version.
    Bookmark {
        /// How far the copy is.
        version: ResourceVersion,
    },
}

/// Lists and watches the objects of a kind, over one request at a time.
///
/// It promises:
/// - whoever does what the [events](Event) say has the server's objects, late at times but never wrong: what was missed while the
///   connection was down is in the next event, be it a change or a list of all;
/// - it never goes back in time, unless the server itself does, as after a restored backup: a list is at least as new as
///   what was told before;
/// - it lists again only when it must: not because a watch ended, was cut, was refused or the server was busy, but because the
///   server forgot the version (410) or stays broken;
/// - whatever the server answers is told, waited for and tried again, by [`Config::backoff`]; nothing is tried in a tight loop;
/// - a connection that is dead without saying so is given up: after 3 minutes where the server sends bookmarks;
/// - it ends when it is dropped, its request with it; nothing of it runs elsewhere.
///
/// Its rules are those of client-go's reflector. It is a plain stream over kube's types and makes no use of the rest of
/// this crate but [`ResourceVersion`] and [`Error`]: what it does could be done under `kube::runtime::watcher`.
///
/// kube's client tries requests again by itself, up to 15 times, when the server answers 429, 503 or 504. Those answers are told
/// here only then. With `default_retry` off in kube's `Config`, the back-off of this is the only one.
///
/// `PartialObjectMeta<K>` in place of `K` has the server send metadata alone.
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
    /// A reflector of these objects.
    pub fn new(api: Api<K>) -> Self {
        Self::with(api, Config::default())
    }

    /// A reflector of these objects, told more.
    pub fn with(api: Api<K>, config: Config<K>) -> Self {
        Reflector { api, config }
    }

    /// What happens to the objects, for ever: errors are told and what failed is tried again.
    pub fn events(self) -> impl Stream<Item = Result<Event<K>, Error>> + Send {
        let run = run::Run::new(self.api, self.config);
        stream::unfold(run, |mut run| async move { Some((run.next().await, run)) })
    }
}
