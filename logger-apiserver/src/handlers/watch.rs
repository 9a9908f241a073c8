//! Watches: the event log as a stream of events, lines of JSON or frames of protobuf.
//!
//! It promises:
//! - A watch receives every change after its version once and in order. A watch that starts before the log gets a 410
//!   in its stream. A watch that falls behind the log ends, and gets the 410 when it is resumed.
//! - It holds no queue of events, only its place in the log: a slow one costs what a quick one does, one that is dropped nothing.
//! - An object that enters its selector is ADDED, one that leaves it DELETED.
//! - With bookmarks it receives the current version every minute and two seconds before its end, also without changes:
//!   clients treat a watch without any event as stalled.

mod options;

use std::{sync::Arc, time::Duration, vec};

use futures::stream::{self, Stream};
use tokio::{
    sync::watch::Receiver,
    time::{Instant, timeout_at},
};

use crate::{
    api::{
        error::{ApiError, Result},
        object::{Object, Stored},
    },
    handlers::request::ResourceRequest,
    resource::{registry::Resource, selector::Selector},
    storage::{shared::SharedState, state::State, store::Event},
    wire::{content::Encoding, negotiation::Representation},
};

use options::{Options, Start};

/// The interval between bookmarks.
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);
/// The time between the last bookmark and the end of a watch.
const LAST_BOOKMARK: Duration = Duration::from_secs(2);

/// A watch that was asked for.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) kind: Arc<Resource>,
    pub(crate) representation: Representation,
    pub(crate) encoding: Encoding,
    /// Where its objects are, as events name it.
    resource: String,
    namespace: Option<String>,
    selector: Selector,
    /// The version up to which everything is sent.
    since: u64,
    /// What is there already, still to be sent.
    initial: vec::IntoIter<Stored>,
    /// A bookmark is to end the initial events.
    mark_initial_end: bool,
    /// It begins before the log does, or has come to what cannot be read.
    refusal: Option<ApiError>,
    bookmarks: bool,
    deadline: Instant,
}

impl Watch {
    /// Reads a watch request; what exists now is taken down now.
    pub(crate) fn new(state: &State, request: &ResourceRequest) -> Result<Self> {
        let Options { start, bookmarks, timeout } = Options::read(state, request)?;
        let current = state.store.version();
        let mut watch = Self {
            kind: request.kind.clone(),
            form: request.representation,
            encoding: request.encoding,
            resource: request.kind.storage_key(),
            namespace: request.namespace.clone(),
            selector: Selector::from_query(&request.query, &request.kind)?,
            since: current,
            initial: Vec::new().into_iter(),
            mark_initial_end: start == Start::Everything { marked: true },
            refusal: None,
            bookmarks,
            deadline: Instant::now() + timeout,
        };
        match start {
            Start::Everything { .. } => watch.start_with_everything(state)?,
            Start::Now => {}
            Start::After(version) => {
                watch.since = version;
                let oldest = state.store.oldest();
                watch.refusal = (version < oldest).then(|| ApiError::too_old(version, oldest));
            }
        }
        Ok(watch)
    }

    fn start_with_everything(&mut self, state: &State) -> Result<()> {
        let stored = state.store.list(&self.resource, self.namespace.as_deref());
        let mut objects = stored.iter().map(|stored| self.kind.read(stored)).collect::<Result<Vec<_>>>()?;
        objects.retain(|object| self.selector.matches(object));
        self.initial = objects.into_iter();
        Ok(())
    }

    /// Returns the events, until the deadline, an error, or the end of the kind.
    pub(crate) fn events(self, shared: Arc<SharedState>) -> impl Stream<Item = WatchEvent> + Send + 'static {
        let changed = shared.subscribe();
        let next_bookmark = self.next_bookmark();
        let watcher = Watcher { watch: self, shared, changed, next_bookmark, ended: false };
        stream::unfold(watcher, |mut watcher| async move { Some((watcher.next().await?, watcher)) })
    }

    /// When to tell how far it has come, if once more before the end.
    fn next_bookmark(&self) -> Option<Instant> {
        let now = Instant::now();
        let last = self.deadline.checked_sub(LAST_BOOKMARK).filter(|_| self.bookmarks)?;
        Some(last.min(now + BOOKMARK_EVERY)).filter(|next| *next > now)
    }

    /// What an event is to this watch: with the selector, a change may be a coming or a going.
    fn seen(&self, event: &Event) -> Option<Result<(&'static str, Stored)>> {
        // Before anything is read: what cannot be is nothing to watches of other namespaces.
        let is_elsewhere = self.namespace.as_deref().is_some_and(|namespace| event.namespace() != namespace);
        if *event.resource != *self.resource || is_elsewhere {
            return None;
        }
        self.meaning(event).transpose()
    }

    fn meaning(&self, event: &Event) -> Result<Option<(&'static str, Stored)>> {
        let read = |stored: &Option<Stored>| stored.as_ref().map(|stored| self.kind.read(stored)).transpose();
        let before = read(&event.before)?.filter(|object| self.selector.matches(object));
        let after = read(&event.after)?.filter(|object| self.selector.matches(object));
        Ok(match (before, after) {
            (None, Some(after)) => Some(("ADDED", after)),
            (Some(_), Some(after)) => Some(("MODIFIED", after)),
            (Some(before), None) => {
                let gone =
                    read(&event.deleted)?.unwrap_or_else(|| Arc::new(before.with_resource_version(event.version)));
                Some(("DELETED", gone))
            }
            (None, None) => None,
        })
    }

    fn bookmark(&self, ends_initial: bool) -> WatchEvent {
        let mut bookmark = Object::default();
        bookmark.metadata.resource_version = Some(self.since.to_string());
        if ends_initial {
            let end = ("k8s.io/initial-events-end".to_owned(), "true".to_owned());
            bookmark.metadata.annotations = Some([end].into());
        }
        WatchEvent::Bookmark(Box::new(bookmark))
    }
}

/// One event of a watch, before it is encoded.
#[derive(Debug)]
pub(crate) enum WatchEvent {
    /// `ADDED`, `MODIFIED` or `DELETED`.
    Object(&'static str, Stored),
    /// An object with a resource version and nothing else.
    Bookmark(Box<Object>),
    /// The last event of a watch that fails.
    Error(ApiError),
}

/// A watch in progress.
struct Watcher {
    watch: Watch,
    shared: Arc<SharedState>,
    changed: Receiver<u64>,
    next_bookmark: Option<Instant>,
    ended: bool,
}

/// What the log has for a watch.
enum Step {
    Send(&'static str, Stored),
    Fail(ApiError),
    UpToDate,
    /// It has missed something, or its kind is gone or another.
    End,
}

impl Watcher {
    async fn next(&mut self) -> Option<WatchEvent> {
        if let Some(refusal) = self.watch.refusal.take() {
            return Some(self.fail(refusal));
        }
        if let Some(object) = self.watch.initial.next() {
            return Some(WatchEvent::Object("ADDED", object));
        }
        if std::mem::take(&mut self.watch.mark_initial_end) {
            return Some(self.watch.bookmark(true));
        }
        while !self.ended && Instant::now() < self.watch.deadline {
            // Seen before the log is read: a change from here on wakes the wait below.
            self.changed.mark_unchanged();
            match self.step() {
                Step::Send(type_, object) => return Some(WatchEvent::Object(type_, object)),
                Step::Fail(error) => return Some(self.fail(error)),
                Step::End => self.ended = true,
                Step::UpToDate if self.owes_bookmark() => return Some(self.watch.bookmark(false)),
                Step::UpToDate => self.wait().await,
            }
        }
        None
    }

    /// Ends the watch with an error.
    fn fail(&mut self, error: ApiError) -> WatchEvent {
        self.ended = true;
        WatchEvent::Error(error)
    }

    /// Goes on to the next event of interest, or to the end of the log.
    fn step(&mut self) -> Step {
        let watch = &mut self.watch;
        let state = self.shared.lock();
        // Changes that could not be persisted are not sent.
        if watch.since < state.store.oldest_logged() || state.failure.is_some() {
            return Step::End;
        }
        if let Some((version, seen)) = state.store.next_event(watch.since, |event| watch.seen(event)) {
            watch.since = version;
            return match seen {
                Ok((type_, object)) => Step::Send(type_, object),
                Err(refusal) => Step::Fail(refusal),
            };
        }
        if !state.registry.serves(&watch.kind) {
            return Step::End;
        }
        // A version from the future is waited for, not gone back from.
        watch.since = watch.since.max(state.store.version());
        Step::UpToDate
    }

    /// Whether it is time for a bookmark.
    fn owes_bookmark(&mut self) -> bool {
        if self.next_bookmark.is_none_or(|next| Instant::now() < next) {
            return false;
        }
        self.next_bookmark = self.watch.next_bookmark();
        true
    }

    /// Waits for a change, a bookmark or the end.
    async fn wait(&mut self) {
        let until = self.next_bookmark.unwrap_or(self.watch.deadline).min(self.watch.deadline);
        // Both outcomes lead to another look at the log; the sender lives in `shared`.
        let _ = timeout_at(until, self.changed.changed()).await;
    }
}
