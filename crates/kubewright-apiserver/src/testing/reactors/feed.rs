//! Watches whose events the test sends.

use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, stream};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::json;
use tokio::sync::broadcast::{self, Receiver, Sender, error::RecvError};

use crate::testing::{body::DataStream, faults::expired_line};

/// The number of events that are buffered for a slow watch.
const BUFFER_SIZE: usize = 1024;

/// Sends events to the watches that a [reactor](super::Reactors) attaches with
/// [`Reaction::watch`](super::Reaction::watch). A clone is another handle to the same feed.
///
/// Guarantees:
/// - Each watch receives all events that are sent while it is open, in order.
/// - A watch that is more than 1,024 events behind ends with 410 `Expired`, as on a server, and delays no other watch.
/// - Events are dropped after [`stop`](Self::stop), and while there is no watch.
#[derive(Debug, Clone)]
pub struct WatchFeed(Arc<Mutex<Option<Sender<Bytes>>>>);

/// The subscription of one watch to a feed; `None` if the feed is stopped.
pub(super) type Subscription = Option<Receiver<Bytes>>;

impl WatchFeed {
    /// Creates a feed without a watch.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(Some(broadcast::channel(BUFFER_SIZE).0))))
    }

    /// Sends an `ADDED` event.
    pub fn added(&self, object: &impl Serialize) {
        self.event("ADDED", object);
    }

    /// Sends a `MODIFIED` event.
    pub fn modified(&self, object: &impl Serialize) {
        self.event("MODIFIED", object);
    }

    /// Sends a `DELETED` event.
    pub fn deleted(&self, object: &impl Serialize) {
        self.event("DELETED", object);
    }

    /// Sends an event of any type: for example `BOOKMARK`, or `ERROR` with a `Status`.
    pub fn event(&self, type_: &str, object: &impl Serialize) {
        let line =
            format!("{}\n", json!({ "type": type_, "object": serde_json::to_value(object).unwrap_or_default() }));
        if let Some(sender) = &*self.0.lock() {
            // An error means that there is no watch.
            let _ = sender.send(line.into());
        }
    }

    /// Ends all watches after their pending events, and all later watches immediately.
    pub fn stop(&self) {
        self.0.lock().take();
    }

    pub(super) fn subscribe(&self) -> Subscription {
        self.0.lock().as_ref().map(Sender::subscribe)
    }
}

impl Default for WatchFeed {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the body of a watch on a feed.
pub(super) fn data(subscription: Subscription) -> DataStream {
    let lines = stream::unfold(subscription, |subscription| async move {
        let mut receiver = subscription?;
        match receiver.recv().await {
            Ok(line) => Some((Ok(line), Some(receiver))),
            Err(RecvError::Lagged(_)) => Some((Ok(expired_line()), None)),
            Err(RecvError::Closed) => None,
        }
    });
    lines.boxed()
}
