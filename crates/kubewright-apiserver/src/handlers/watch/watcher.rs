//! A watch in progress: reads the log, encodes its events in frames, and waits for changes.

use std::{pin::Pin, sync::Arc};

use bytes::Bytes;
use tokio::{
    sync::watch::Receiver,
    time::{Instant, Sleep, sleep_until},
};

use super::{
    Watch, WatchEvent,
    frame::{Frame, MAX_EVENTS},
};
use crate::{
    api::error::ApiError,
    storage::{shared::SharedState, store::Event},
};

/// A watch in progress. `encode` returns the bytes of an event, or `None` to omit it.
pub(super) struct Watcher<E> {
    watch: Watch,
    shared: Arc<SharedState>,
    encode: E,
    /// The version of the latest change that affects the watch.
    changed: Receiver<u64>,
    /// The version of the store when the log was last read to its end.
    current: u64,
    next_bookmark: Option<Instant>,
    /// Ends a wait. It is kept between waits, since most of them have the same end.
    timer: Option<Pin<Box<Sleep>>>,
    ended: bool,
}

/// The result of reading the log once.
struct LogEntries {
    /// The next events of the watch, at most [`MAX_EVENTS`].
    events: Vec<Arc<Event>>,
    /// The version of the store.
    current: u64,
    /// Whether the kind of the watch is still served.
    is_served: bool,
}

impl<E: FnMut(&WatchEvent) -> Option<Bytes>> Watcher<E> {
    pub(super) fn new(watch: Watch, shared: Arc<SharedState>, encode: E) -> Self {
        let changed = shared.notifications.subscribe_to(&watch.resource);
        let next_bookmark = watch.next_bookmark();
        Self { watch, shared, encode, changed, current: 0, next_bookmark, timer: None, ended: false }
    }

    /// Returns the next frame, which has at least one event. Waits for changes if there is none.
    pub(super) async fn next(&mut self) -> Option<Frame> {
        let initial = self.initial_events();
        if !initial.is_empty() {
            return Some(initial);
        }
        while !self.ended && Instant::now() < self.watch.deadline {
            let (mut frame, is_up_to_date) = self.logged_events().await;
            if frame.is_empty() && is_up_to_date && !self.ended {
                if !self.is_bookmark_due() {
                    self.wait().await;
                    continue;
                }
                let bookmark = self.watch.bookmark(false);
                self.add(&mut frame, &bookmark);
            }
            if !frame.is_empty() {
                return Some(frame);
            }
        }
        None
    }

    /// Returns the next events before those of the log.
    fn initial_events(&mut self) -> Frame {
        let mut frame = Frame::default();
        if let Some(error) = self.watch.error.take() {
            self.fail(&mut frame, error);
        }
        while frame.has_room()
            && let Some(object) = self.watch.initial.next()
        {
            self.add(&mut frame, &WatchEvent::Object { type_: "ADDED", object, version: None });
        }
        if frame.has_room() && std::mem::take(&mut self.watch.send_initial_events_end) {
            let bookmark = self.watch.bookmark(true);
            self.add(&mut frame, &bookmark);
        }
        frame
    }

    /// Returns the next events of the log, and whether it has no further ones. Objects are converted and encoded
    /// without the lock, and other watches continue while a webhook converts.
    async fn logged_events(&mut self) -> (Frame, bool) {
        let mut frame = Frame::default();
        // Marked before the log is read: a later change ends the wait.
        self.changed.mark_unchanged();
        let Some(LogEntries { events, current, is_served }) = self.read_log() else {
            self.ended = true;
            return (frame, true);
        };
        convert(&self.watch, &events).await;
        for event in &events {
            if !frame.has_room() {
                return (frame, false);
            }
            self.watch.resource_version = event.version;
            match self.watch.convert(event) {
                Ok(None) => {}
                Ok(Some((type_, object))) => {
                    let version = Some(event.version);
                    self.add(&mut frame, &WatchEvent::Object { type_, object, version });
                }
                Err(error) => {
                    self.fail(&mut frame, error);
                    return (frame, false);
                }
            }
        }
        let is_up_to_date = events.len() < MAX_EVENTS;
        if is_up_to_date {
            self.ended = !is_served;
            self.current = current;
            // A watch from a version larger than the current one keeps its version.
            self.watch.resource_version = self.watch.resource_version.max(current);
        }
        (frame, is_up_to_date)
    }

    /// Reads the log. Returns `None` if the watch has missed events, or if changes could not be persisted, which are
    /// not sent.
    fn read_log(&self) -> Option<LogEntries> {
        let (watch, state) = (&self.watch, self.shared.lock());
        if state.store.has_dropped(&watch.resource, watch.resource_version) || state.failure.is_some() {
            return None;
        }
        let events = state.store.events_after(watch.resource_version, MAX_EVENTS, |event| watch.includes(event));
        Some(LogEntries { events, current: state.store.version(), is_served: state.registry.serves(&watch.kind) })
    }

    fn add(&mut self, frame: &mut Frame, event: &WatchEvent) {
        if let Some(encoded) = (self.encode)(event) {
            frame.push(encoded);
        }
    }

    /// Ends the watch with an error.
    fn fail(&mut self, frame: &mut Frame, error: ApiError) {
        self.ended = true;
        self.add(frame, &WatchEvent::Error(error));
    }

    /// Returns whether a bookmark is due, and schedules the next one.
    fn is_bookmark_due(&mut self) -> bool {
        if self.next_bookmark.is_none_or(|next| Instant::now() < next) {
            return false;
        }
        self.next_bookmark = self.watch.next_bookmark();
        // As for events, only versions after that of the watch are sent.
        self.watch.resource_version <= self.current
    }

    /// Waits for a change, a bookmark or the end.
    async fn wait(&mut self) {
        let until = self.next_bookmark.unwrap_or(self.watch.deadline).min(self.watch.deadline);
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(until)));
        if timer.deadline() != until {
            timer.as_mut().reset(until);
        }
        loop {
            tokio::select! {
                biased;
                // `shared` owns the sender, so that the channel is not closed.
                _ = self.changed.changed() => {}
                () = timer.as_mut() => return,
            }
            let version = *self.changed.borrow();
            // The log can have been read between the change and its notification.
            if version > self.current {
                return;
            }
        }
    }
}

/// Has a webhook convert the objects of events, if the version of the watch needs that. What it cannot convert is the
/// error of its event.
async fn convert(watch: &Watch, events: &[Arc<Event>]) {
    if let Some(conversions) = watch.kind.conversions() {
        conversions.clear();
        watch.kind.convert_all(events.iter().flat_map(|event| watch.converted(event))).await;
    }
}
