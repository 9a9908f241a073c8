//! Connections: the requests in flight, and how each is ended.

use std::collections::BTreeMap;

use tokio::sync::oneshot;

use super::Faults;
use crate::{testing::requests::Requests, wire::request_info::RequestInfo};

/// How a fault ends a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The connection is reset.
    Reset,
    /// The body ends.
    Clean,
    /// The body ends with an `ERROR` event: the resource version of the watch is too old.
    Expired,
}

/// The requests in flight, in order of arrival.
#[derive(Debug, Default)]
pub(super) struct Connections {
    open: BTreeMap<u64, Open>,
    last_id: u64,
}

#[derive(Debug)]
struct Open {
    info: RequestInfo,
    /// The head of the response was sent; the body can still be open.
    has_response: bool,
    end: oneshot::Sender<End>,
}

impl Connections {
    pub(super) fn begin(&mut self, info: RequestInfo) -> (u64, oneshot::Receiver<End>) {
        let (end, receiver) = oneshot::channel();
        self.last_id += 1;
        self.open.insert(self.last_id, Open { info, has_response: false, end });
        (self.last_id, receiver)
    }

    /// Ends the matching requests and returns their number. Only a reset ends requests without a response.
    pub(super) fn end(&mut self, requests: &Requests, end: End) -> usize {
        let is_ended = |open: &Open| (open.has_response || end == End::Reset) && requests.contain(&open.info);
        let ended: Vec<Open> = self.open.extract_if(.., |_, open| is_ended(open)).map(|(_, open)| open).collect();
        // An error means that the request is complete.
        ended.into_iter().filter_map(|open| open.end.send(end).ok()).count()
    }

    pub(super) fn count(&self, requests: &Requests, has_response: bool) -> usize {
        let counted = |open: &&Open| open.has_response == has_response && requests.contain(&open.info);
        self.open.values().filter(counted).count()
    }
}

/// A request in flight. It is complete when this is dropped.
#[derive(Debug)]
pub(super) struct Connection {
    faults: Faults,
    id: u64,
    end: Option<oneshot::Receiver<End>>,
}

impl Connection {
    pub(super) fn new(faults: Faults, id: u64, end: oneshot::Receiver<End>) -> Self {
        Self { faults, id, end: Some(end) }
    }

    /// Records that the head of the response was sent.
    pub(super) fn mark_responded(&self) {
        if let Some(open) = self.faults.0.state.lock().connections.open.get_mut(&self.id) {
            open.has_response = true;
        }
        self.faults.0.changed.send_replace(());
    }

    /// Waits until a fault ends the request.
    pub(super) async fn ended(&mut self) -> End {
        if let Some(receiver) = &mut self.end
            && let Ok(end) = receiver.await
        {
            self.end = None;
            return end;
        }
        std::future::pending().await
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.faults.0.state.lock().connections.open.remove(&self.id);
        self.faults.0.changed.send_replace(());
    }
}
