//! The worker of a recorder: correlates the queued events and writes them.

use std::{
    fmt,
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use kube::Client;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    Queued,
    correlator::{Correlator, Decision, DropReason},
    sink::Sink,
    writes::Writes,
};

/// Writes the events of a recorder. It starts no task: everything runs in [`run`](Self::run), and ends with it.
#[must_use = "events are only written while the worker runs"]
pub struct EventWorker {
    queue: mpsc::Receiver<Queued>,
    overflow: Arc<AtomicU64>,
    flush_timeout: Duration,
    correlator: Correlator,
    writes: Writes,
}

/// Reports events that a stopped worker could not write in time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the event recorder stopped, but {unwritten} events could not be written within {timeout:?}")]
pub struct FlushError {
    /// The number of events, or of series with an outdated count.
    pub unwritten: usize,
    /// The flush timeout.
    pub timeout: Duration,
}

impl EventWorker {
    pub(super) fn new(
        client: Client,
        queue: mpsc::Receiver<Queued>,
        overflow: Arc<AtomicU64>,
        flush_timeout: Duration,
    ) -> Self {
        let writes = Writes::new(Sink::new(client));
        EventWorker { queue, overflow, flush_timeout, correlator: Correlator::new(), writes }
    }

    /// Writes events until cancelled, also if every recorder is dropped. Then it rejects further events, writes those
    /// that were recorded before and the counts of all series, and returns.
    ///
    /// # Errors
    /// Fails if events could not be written within the [flush timeout](super::EventConfig::flush_timeout).
    pub async fn run(mut self, cancelled: CancellationToken) -> Result<(), FlushError> {
        self.write_events(&cancelled).await;
        self.queue.close();
        if timeout(self.flush_timeout, self.flush()).await.is_ok() {
            return Ok(());
        }
        let unwritten = self.cancel();
        tracing::warn!(unwritten, timeout = ?self.flush_timeout, "events could not be written before the stop");
        Err(FlushError { unwritten, timeout: self.flush_timeout })
    }

    /// The order of the branches matters: a flood of events delays neither the completion of requests nor the writes of
    /// running series.
    async fn write_events(&mut self, cancelled: &CancellationToken) {
        let mut is_open = true;
        loop {
            let has_room = self.writes.has_room();
            let deadline = self.correlator.next_deadline().filter(|_| has_room);
            tokio::select! {
                biased;
                () = cancelled.cancelled() => return,
                Some(()) = self.writes.next() => {}
                () = until(deadline) => self.write_due(),
                queued = self.queue.recv(), if is_open && has_room => match queued {
                    Some(queued) => self.observe(queued),
                    None => is_open = false,
                },
            }
        }
    }

    /// Correlates an event.
    fn observe(&mut self, (occurrence, recorded): Queued) {
        let overflow = self.overflow.swap(0, Ordering::Relaxed);
        if overflow > 0 {
            tracing::warn!(dropped = overflow, "events were dropped: the queue of the event recorder was full");
        }
        let reporter = Arc::clone(&occurrence.reporter);
        let observation = self.correlator.observe(occurrence, recorded);
        if let Some(write) = observation.evicted {
            self.writes.push(write);
        }
        match observation.decision {
            Decision::Write(write) => self.writes.push(write),
            Decision::Count => {}
            Decision::Drop(reason @ DropReason::RateLimited) => {
                reporter.metrics.rate_limited.inc();
                tracing::debug!(controller = reporter.controller, ?reason, "an event is dropped");
            }
        }
    }

    /// Writes the series that are due, as many as there is room for.
    fn write_due(&mut self) {
        while self.writes.has_room()
            && let Some(write) = self.correlator.pop_due(Instant::now())
        {
            self.writes.push(write);
        }
    }

    async fn flush(&mut self) {
        while let Some(queued) = self.queue.recv().await {
            self.observe(queued);
        }
        while let Some(write) = self.correlator.pop_unwritten(Instant::now()) {
            self.writes.push(write);
        }
        while self.writes.next().await.is_some() {}
    }

    /// Cancels what the flush did not complete and returns the number of events.
    fn cancel(&mut self) -> usize {
        while let Ok(queued) = self.queue.try_recv() {
            self.observe(queued);
        }
        while let Some(write) = self.correlator.pop_unwritten(Instant::now()) {
            self.writes.push(write);
        }
        self.writes.cancel()
    }
}

/// Waits until a deadline; without one, forever.
async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}

impl fmt::Debug for EventWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventWorker").field("flush_timeout", &self.flush_timeout).finish_non_exhaustive()
    }
}
