//! A watch whose events are given by hand.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::{StreamExt, stream};
use serde::Serialize;
use serde_json::json;
use tokio::sync::broadcast::{self, Receiver, Sender, error::RecvError};

use crate::testing::faults::{Bodies, expired_line};

/// How many events a slow watch may be behind.
const BEHIND: usize = 1024;

/// Events for watches that a [reactor](super::Reactors) hands to it with [`Reaction::watch`](super::Reaction::watch). A clone is
/// another handle to the same feed.
///
/// It promises:
/// - each watch gets each event that is given while it is open, in order;
/// - a watch that is more than 1,024 events behind ends with 410 `Expired`, as on a server, and delays no other;
/// - after [`stop`](Self::stop), and without a watch, events are dropped.
#[derive(Debug, Clone)]
pub struct WatchFeed(Arc<Mutex<Option<Sender<Bytes>>>>);

/// One watch on a feed; `None` once the feed was stopped.
pub(super) type Feed = Option<Receiver<Bytes>>;

impl WatchFeed {
    /// Creates a feed without a watch.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(Some(broadcast::channel(BEHIND).0))))
    }

    /// This object is new.
    pub fn added(&self, object: &impl Serialize) {
        self.event("ADDED", object);
    }

    /// This object was changed.
    pub fn modified(&self, object: &impl Serialize) {
        self.event("MODIFIED", object);
    }

    /// This object is gone.
    pub fn deleted(&self, object: &impl Serialize) {
        self.event("DELETED", object);
    }

    /// An event of any type: `BOOKMARK`, or `ERROR` with a `Status`.
    pub fn event(&self, type_: &str, object: &impl Serialize) {
        let line =
            format!("{}\n", json!({ "type": type_, "object": serde_json::to_value(object).unwrap_or_default() }));
        if let Some(sender) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            // An error means that there is no watch.
            let _ = sender.send(line.into());
        }
    }

    /// Ends every watch, once it has got what was given before, and those to come at once.
    pub fn stop(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    pub(super) fn subscribe(&self) -> Feed {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(Sender::subscribe)
    }
}

impl Default for WatchFeed {
    fn default() -> Self {
        Self::new()
    }
}

/// The body of a watch on a feed.
pub(super) fn bodies(feed: Feed) -> Bodies {
    let lines = stream::unfold(feed, |feed| async move {
        let mut feed = feed?;
        match feed.recv().await {
            Ok(line) => Some((Ok(line), Some(feed))),
            Err(RecvError::Lagged(_)) => Some((Ok(expired_line()), None)),
            Err(RecvError::Closed) => None,
        }
    });
    lines.boxed()
}
