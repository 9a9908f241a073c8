//! Connections: the requests that are not over, and how each is ended.

use std::collections::BTreeMap;

use tokio::sync::oneshot;

use super::Faults;
use crate::testing::{request_info::RequestInfo, requests::Requests};

/// How a request is ended before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The connection breaks.
    Reset,
    /// The body ends.
    Clean,
    /// The body ends with an event that says the watch's version is too old.
    Expired,
}

/// The requests that are not over, by the order they came in.
#[derive(Debug, Default)]
pub(super) struct Connections {
    open: BTreeMap<u64, Open>,
    begun: u64,
}

#[derive(Debug)]
struct Open {
    info: RequestInfo,
    is_answered: bool,
    end: oneshot::Sender<End>,
}

impl Connections {
    pub(super) fn begin(&mut self, info: RequestInfo) -> (u64, oneshot::Receiver<End>) {
        let (end, ending) = oneshot::channel();
        self.begun += 1;
        self.open.insert(self.begun, Open { info, is_answered: false, end });
        (self.begun, ending)
    }

    /// Ends such requests, and says how many: only a reset ends those that are not answered yet.
    pub(super) fn end(&mut self, requests: &Requests, end: End) -> usize {
        let is_ended = |open: &Open| (open.is_answered || end == End::Reset) && requests.contain(&open.info);
        let ended: Vec<Open> = self.open.extract_if(.., |_, open| is_ended(open)).map(|(_, open)| open).collect();
        // Who does not listen any more is over already.
        ended.into_iter().filter_map(|open| open.end.send(end).ok()).count()
    }

    pub(super) fn count(&self, requests: &Requests, is_answered: bool) -> usize {
        let counted = |open: &&Open| open.is_answered == is_answered && requests.contain(&open.info);
        self.open.values().filter(counted).count()
    }
}

/// A request that is not over; it is when this is dropped.
#[derive(Debug)]
pub(super) struct Connection {
    faults: Faults,
    id: u64,
    ending: Option<oneshot::Receiver<End>>,
}

impl Connection {
    pub(super) fn new(faults: Faults, id: u64, ending: oneshot::Receiver<End>) -> Self {
        Self { faults, id, ending: Some(ending) }
    }

    /// The beginning of the answer is there.
    pub(super) fn answered(&self) {
        if let Some(open) = self.faults.lock().connections.open.get_mut(&self.id) {
            open.is_answered = true;
        }
        self.faults.0.changed.send_replace(());
    }

    /// Waits until it is ended; for ever if it never is.
    pub(super) async fn ended(&mut self) -> End {
        if let Some(ending) = &mut self.ending
            && let Ok(end) = ending.await
        {
            self.ending = None;
            return end;
        }
        std::future::pending().await
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.faults.lock().connections.open.remove(&self.id);
        self.faults.0.changed.send_replace(());
    }
}
