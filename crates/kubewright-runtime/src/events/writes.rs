//! The writes of a worker: several at a time, but one of each series.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};

use super::{
    correlator::Write,
    reporter::Reporter,
    sink::{Sink, WriteError},
};

/// The maximum number of concurrent requests, as in client-go.
const MAX_RUNNING: usize = 8;
/// The number of writes that wait for a request above which the worker receives no further events.
const MAX_PENDING: usize = 64;

/// Sends writes. The writes of one series are sent in order, and those that wait are merged.
pub(super) struct Writes {
    sink: Sink,
    /// The writes that wait, by series.
    pending: HashMap<u64, Write>,
    /// The series whose writes wait for a free request, in order.
    waiting: VecDeque<u64>,
    /// The series with a running request.
    running: HashMap<u64, Arc<Reporter>>,
    requests: FuturesUnordered<BoxFuture<'static, (u64, Result<(), WriteError>)>>,
}

impl Writes {
    pub(super) fn new(sink: Sink) -> Self {
        Writes {
            sink,
            pending: HashMap::new(),
            waiting: VecDeque::new(),
            running: HashMap::new(),
            requests: FuturesUnordered::new(),
        }
    }

    /// Returns whether the worker should add further writes.
    pub(super) fn has_room(&self) -> bool {
        self.pending.len() < MAX_PENDING
    }

    /// Sends a write, as soon as its series and a request are free.
    pub(super) fn push(&mut self, write: Write) {
        let series = write.series;
        match self.pending.get_mut(&series) {
            // A creation that has not been sent creates the event with its series.
            Some(earlier) => earlier.event.series = write.event.series,
            None => {
                self.pending.insert(series, write);
                if !self.running.contains_key(&series) {
                    self.waiting.push_back(series);
                }
            }
        }
        self.send();
    }

    /// Waits until a request is completed; `None` if none is running, and thus no write waits. Cancellation loses no
    /// write.
    pub(super) async fn next(&mut self) -> Option<()> {
        let (series, result) = self.requests.next().await?;
        if let Some(reporter) = self.running.remove(&series) {
            report(&reporter, result);
        }
        if self.pending.contains_key(&series) {
            self.waiting.push_back(series);
        }
        self.send();
        Some(())
    }

    /// Cancels all writes, counts their series as failed and returns the number of series.
    pub(super) fn cancel(&mut self) -> usize {
        self.requests.clear();
        self.waiting.clear();
        for (series, write) in self.pending.drain() {
            self.running.entry(series).or_insert(write.reporter);
        }
        self.running.drain().inspect(|(_, reporter)| _ = reporter.metrics.flush_timeout.inc()).count()
    }

    fn send(&mut self) {
        while self.running.len() < MAX_RUNNING
            && let Some(series) = self.waiting.pop_front()
        {
            let Some(write) = self.pending.remove(&series) else { continue };
            self.running.insert(series, Arc::clone(&write.reporter));
            self.requests.push(self.sink.clone().write(write).map(move |result| (series, result)).boxed());
        }
    }
}

/// Counts and logs the result of a write.
fn report(reporter: &Reporter, result: Result<(), WriteError>) {
    let controller = &reporter.controller;
    match result {
        Ok(()) => {
            reporter.metrics.recorded.inc();
        }
        Err(WriteError::Rejected(error)) => {
            reporter.metrics.rejected.inc();
            tracing::warn!(controller, %error, "an event is rejected and dropped");
        }
        Err(error @ WriteError::RetriesExhausted(_)) => {
            reporter.metrics.retries_exhausted.inc();
            tracing::warn!(controller, %error, "an event cannot be written and is dropped");
        }
    }
}
