//! The reflector: lists and watches a kind, and tells what to do to a copy of it.

mod options;
#[allow(dead_code)]
mod wire;

use std::sync::Arc;

use futures::{Stream, StreamExt, stream};
use kube::Api;
use kube::runtime::{WatchStreamExt, watcher};

use crate::error::Error;
use crate::object::{ApiObject, resource};
use crate::version::ResourceVersion;

pub use self::options::ListOptions;

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

/// Lists and watches the objects of a kind.
#[derive(Debug)]
pub struct Reflector<K> {
    api: Api<K>,
}

impl<K: ApiObject> Reflector<K> {
    /// A reflector of these objects.
    pub fn new(api: Api<K>) -> Self {
        Reflector { api }
    }

    /// What happens to the objects, for ever: errors are told and retried.
    pub fn events(self) -> impl Stream<Item = Result<Event<K>, Error>> + Send {
        let namespace = self.api.namespace().map(str::to_owned);
        let mut listed = Vec::new();
        follow(self.api).default_backoff().filter_map(move |event| {
            let event = match event {
                Ok(event) => told(event, &mut listed).map(Ok),
                Err(error) => Some(Err(failed::<K>(error, namespace.as_deref()))),
            };
            async { event }
        })
    }
}

fn told<K: ApiObject>(event: watcher::Event<K>, listed: &mut Vec<Arc<K>>) -> Option<Event<K>> {
    let version = |object: &K| ResourceVersion::new(object.meta().resource_version.as_deref().unwrap_or_default());
    match event {
        watcher::Event::Init => listed.clear(),
        watcher::Event::InitApply(object) => listed.push(Arc::new(object)),
        watcher::Event::InitDone => {
            let version = ResourceVersion::new("");
            return Some(Event::Replaced { objects: std::mem::take(listed), version });
        }
        watcher::Event::Apply(object) => {
            return Some(Event::Applied { version: version(&object), object: Arc::new(object) });
        }
        watcher::Event::Delete(object) => {
            return Some(Event::Deleted { version: version(&object), object: Arc::new(object) });
        }
    }
    None
}

fn failed<K: ApiObject>(error: watcher::Error, namespace: Option<&str>) -> Error {
    let (verb, cause) = match error {
        watcher::Error::InitialListFailed(cause) => ("list", cause),
        watcher::Error::WatchStartFailed(cause) | watcher::Error::WatchFailed(cause) => ("watch", cause),
        watcher::Error::WatchError(status) => ("watch", kube::Error::Api(status)),
        watcher::Error::NoResourceVersion => ("list", kube::Error::LinesCodecMaxLineLengthExceeded),
    };
    Error::new(verb, resource::<K>(), "", cause).in_namespace(namespace)
}

/// What kube's watcher tells. It begins anew where the server ends a watch with 410 Gone; where the server refuses to
/// begin one with it, kube 5.0 would ask for the same version for ever, so a new watcher takes over.
fn follow<K: ApiObject>(api: Api<K>) -> impl Stream<Item = watcher::Result<watcher::Event<K>>> + Send {
    let begin = |api: &Api<K>| watcher(api.clone(), watcher::Config::default()).boxed();
    stream::unfold((begin(&api), api), move |(mut events, api)| async move {
        let event = events.next().await?;
        if event.as_ref().is_err_and(is_expired) {
            events = begin(&api);
        }
        Some((event, (events, api)))
    })
}

/// The version a watch was to begin at is too old: only a new list helps.
fn is_expired(error: &watcher::Error) -> bool {
    match error {
        watcher::Error::WatchStartFailed(kube::Error::Api(status))
        | watcher::Error::WatchFailed(kube::Error::Api(status)) => status.code == 410,
        _ => false,
    }
}
