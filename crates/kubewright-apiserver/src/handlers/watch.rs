//! Watches: the event log as a stream of events, lines of JSON or frames of protobuf.
//!
//! Guarantees:
//! - A watch receives every change after its version once and in order. A watch that starts before the log receives
//!   an error event with code 410. A watch ends if the log drops a change of its resource that it has not received, and
//!   receives that error when it is resumed.
//! - Changes of other resources do not wake a watch.
//! - A watch has no queue of events, only its position in the log. A slow watch needs no more memory than a fast one:
//!   one frame of bounded size.
//! - An object that starts to match the selector is ADDED; one that no longer matches is DELETED.
//! - A watch with bookmarks receives the current version every minute and two seconds before its end, also without
//!   changes: clients treat a watch without events as stalled.

mod frame;
mod options;
mod watcher;

use std::{sync::Arc, time::Duration, vec};

use bytes::Bytes;
use futures::stream::{self, Stream};
use tokio::time::Instant;

use crate::{
    api::{
        error::{ApiError, Result},
        object::{Object, Stored},
    },
    controllers::controlled_state::ControlledState,
    handlers::request::ResourceRequest,
    resource::{registry::Resource, selector::Selector},
    storage::{shared::SharedState, state::State, store::Event},
    wire::{content::Encoding, negotiation::Representation},
};

pub(crate) use frame::Frame;
use options::{Options, Start};
use watcher::Watcher;

/// The interval between bookmarks.
const BOOKMARK_INTERVAL: Duration = Duration::from_secs(60);
/// The time between the last bookmark and the end of a watch.
const LAST_BOOKMARK_BEFORE_END: Duration = Duration::from_secs(2);

/// A requested watch.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) kind: Arc<Resource>,
    pub(crate) representation: Representation,
    pub(crate) encoding: Encoding,
    /// The storage key of the resource, as in events.
    resource: String,
    namespace: Option<String>,
    selector: Selector,
    /// The version up to which all events are sent.
    resource_version: u64,
    /// The existing objects that are not sent yet.
    initial: vec::IntoIter<Stored>,
    /// Whether a bookmark marks the end of the initial events.
    send_initial_events_end: bool,
    /// The error that ends the watch: its version is no longer in the log.
    error: Option<ApiError>,
    bookmarks: bool,
    deadline: Instant,
}

impl Watch {
    /// Creates the watch of a request. It contains the objects that exist now.
    ///
    /// # Errors
    /// The options are invalid, or an object cannot be converted.
    pub(crate) async fn new(state: &ControlledState, request: &ResourceRequest) -> Result<Self> {
        let (mut watch, existing) = Self::start(&state.lock(), request)?;
        watch.kind.convert_all(&existing).await;
        let mut objects = existing.iter().map(|stored| watch.kind.read(stored)).collect::<Result<Vec<_>>>()?;
        objects.retain(|object| watch.selector.matches(object));
        watch.initial = objects.into_iter();
        Ok(watch)
    }

    /// Returns the watch without its initial objects, and these as they are stored.
    fn start(state: &State, request: &ResourceRequest) -> Result<(Self, Vec<Stored>)> {
        let Options { start, bookmarks, timeout } = Options::decode(state, request)?;
        let current = state.store.version();
        let mut watch = Self {
            kind: request.kind.clone(),
            representation: request.representation,
            encoding: request.encoding,
            resource: request.kind.storage_key(),
            namespace: request.namespace.clone(),
            selector: Selector::from_query(&request.query, &request.kind, request.kind.strategy)?,
            resource_version: current,
            initial: Vec::new().into_iter(),
            send_initial_events_end: start == Start::Everything { with_bookmark: true },
            error: None,
            bookmarks,
            deadline: Instant::now() + timeout,
        };
        let mut existing = Vec::new();
        match start {
            Start::Everything { .. } => existing = state.store.list(&watch.resource, watch.namespace.as_deref()),
            Start::Now => {}
            Start::After(version) => {
                watch.resource_version = version;
                let oldest = state.store.oldest();
                watch.error = (version < oldest).then(|| ApiError::too_old(version, oldest));
            }
        }
        Ok((watch, existing))
    }

    /// Returns the events in frames, until the deadline, an error, or the removal of the kind.
    /// `encode` returns the bytes of an event, or `None` to omit it.
    pub(crate) fn frames(
        self,
        shared: Arc<SharedState>,
        encode: impl FnMut(&WatchEvent) -> Option<Bytes> + Send + 'static,
    ) -> impl Stream<Item = Frame> + Send + 'static {
        let watcher = Watcher::new(self, shared, encode);
        stream::unfold(watcher, |mut watcher| async move { Some((watcher.next().await?, watcher)) })
    }

    /// Returns the time of the next bookmark, if there is one before the end.
    fn next_bookmark(&self) -> Option<Instant> {
        let now = Instant::now();
        let last = self.deadline.checked_sub(LAST_BOOKMARK_BEFORE_END).filter(|_| self.bookmarks)?;
        Some(last.min(now + BOOKMARK_INTERVAL)).filter(|next| *next > now)
    }

    /// Returns whether an event is one of the resource and the namespace. Checked before the objects are converted: a
    /// conversion error does not affect watches of other namespaces.
    fn includes(&self, event: &Event) -> bool {
        let is_in_namespace = || self.namespace.as_deref().is_none_or(|namespace| event.namespace() == namespace);
        *event.resource == *self.resource && is_in_namespace()
    }

    /// Returns the type and the object of an event of this watch. With a selector, an update can be an addition or a
    /// deletion.
    fn convert(&self, event: &Event) -> Result<Option<(&'static str, Stored)>> {
        let to_version = |stored: &Option<Stored>| stored.as_ref().map(|stored| self.kind.read(stored)).transpose();
        if let (true, Some(_), Some(after)) = (self.selector.is_empty(), &event.before, &event.after) {
            // The object before the update is not sent, so it is not converted.
            return Ok(Some(("MODIFIED", self.kind.read(after)?)));
        }
        let before = to_version(&event.before)?.filter(|object| self.selector.matches(object));
        let after = to_version(&event.after)?.filter(|object| self.selector.matches(object));
        Ok(match (before, after) {
            (None, Some(after)) => Some(("ADDED", after)),
            (Some(_), Some(after)) => Some(("MODIFIED", after)),
            (Some(before), None) => {
                let deleted = to_version(&event.deleted)?
                    .unwrap_or_else(|| Arc::new(before.with_resource_version(event.version)));
                Some(("DELETED", deleted))
            }
            (None, None) => None,
        })
    }

    /// Returns the stored objects that [`convert`](Self::convert) converts.
    fn converted<'a>(&self, event: &'a Event) -> impl Iterator<Item = &'a Stored> + Clone + use<'a> {
        let is_update = event.before.is_some() && event.after.is_some();
        let before = event.before.as_ref().filter(|_| !is_update || !self.selector.is_empty());
        before.into_iter().chain(&event.after).chain(&event.deleted)
    }

    fn bookmark(&self, is_initial_events_end: bool) -> WatchEvent {
        let mut bookmark = Object::default();
        bookmark.metadata.resource_version = Some(self.resource_version.to_string());
        if is_initial_events_end {
            let annotation = ("k8s.io/initial-events-end".to_owned(), "true".to_owned());
            bookmark.metadata.annotations = Some([annotation].into());
        }
        WatchEvent::Bookmark(Box::new(bookmark))
    }
}

/// One event of a watch, before it is encoded.
#[derive(Debug)]
pub(crate) enum WatchEvent {
    Object {
        /// `ADDED`, `MODIFIED` or `DELETED`.
        type_: &'static str,
        object: Stored,
        /// The version of the event, if it is one of the log.
        version: Option<u64>,
    },
    /// An object with a resource version and nothing else.
    Bookmark(Box<Object>),
    /// The last event of a watch that fails.
    Error(ApiError),
}
