//! The worker loop: one key after the other, and what becomes of each.

use std::any::Any;
use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

use super::gate::Gate;
use super::measures::Measures;
use super::reconciler::{Action, AnyReconciler, ReconcileError};
use crate::Error;
use crate::key::ObjectKey;
use crate::workqueue::{AddOptions, Work, WorkQueue};

/// Numbers the reconciliations of this process, for logs.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// So long a worker waits for a cache that lags; most do by less.
const LAG: Duration = Duration::from_millis(200);
/// So long a key is put aside whose cache lags by more, while others are worked on.
const ASIDE: Duration = Duration::from_secs(1);

/// What the workers of one controller share.
pub(super) struct Workshop {
    pub(super) name: String,
    pub(super) queue: WorkQueue<ObjectKey>,
    pub(super) reconciler: Box<dyn AnyReconciler>,
    pub(super) gates: Vec<Box<dyn Gate>>,
    pub(super) time_limit: Option<Duration>,
    pub(super) measures: Measures,
    pub(super) at_work: Mutex<BTreeSet<ObjectKey>>,
}

/// What a reconciliation came to.
enum Outcome {
    Succeeded(Action),
    Failed(ReconcileError),
    TookTooLong(Duration),
    Panicked(String),
}

impl Workshop {
    /// Works until the stop; what is at work then is finished.
    pub(super) async fn work(self: Arc<Self>, stop: CancellationToken) {
        loop {
            let (work, is_current) = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                next = self.next() => match next {
                    Some(next) => next,
                    None => return,
                },
            };
            match is_current {
                true => self.process(&work).await,
                false => self.again(&work, AddOptions { after: Some(ASIDE), ..AddOptions::default() }),
            }
        }
    }

    /// The next key, and whether the caches have what was written of it.
    async fn next(&self) -> Option<(Work<ObjectKey>, bool)> {
        let work = self.queue.get().await?;
        let is_open = self.gates.iter().all(|gate| gate.is_open(&work));
        let is_current = is_open || {
            let all = async {
                for gate in &self.gates {
                    gate.wait(&work).await;
                }
            };
            timeout(LAG, all).await.is_ok()
        };
        Some((work, is_current))
    }

    /// The keys that are at work now.
    pub(super) fn keys_at_work(&self) -> Vec<ObjectKey> {
        self.at_work().iter().cloned().collect()
    }

    async fn process(&self, key: &Work<ObjectKey>) {
        let (_present, _running) = (Present::new(self, key), self.measures.running());
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        let span = tracing::info_span!("reconcile", controller = self.name, key = %key, reconcile_id = id);
        let began = Instant::now();
        let outcome = self.reconcile(key, span.clone()).await;
        self.measures.took(began.elapsed());
        span.in_scope(|| self.settle(key, outcome));
    }

    /// A panic while the future is made is caught as one while it runs.
    async fn reconcile(&self, key: &ObjectKey, span: Span) -> Outcome {
        let run = AssertUnwindSafe(async { self.reconciler.reconcile(key.clone()).await });
        let run = run.catch_unwind().instrument(span);
        let ended = match self.time_limit {
            None => Ok(run.await),
            Some(limit) => timeout(limit, run).await.map_err(|_| limit),
        };
        match ended {
            Ok(Ok(Ok(action))) => Outcome::Succeeded(action),
            Ok(Ok(Err(error))) => Outcome::Failed(error),
            Ok(Err(panic)) => Outcome::Panicked(text_of(panic.as_ref())),
            Err(limit) => Outcome::TookTooLong(limit),
        }
    }

    /// Counts, tells and queues again. The key is still at work: what is added comes when it is done.
    fn settle(&self, key: &Work<ObjectKey>, outcome: Outcome) {
        let measures = &self.measures;
        match outcome {
            Outcome::Succeeded(Action::Done) => {
                self.queue.forget(key);
                measures.success.add(1);
            }
            Outcome::Succeeded(Action::Requeue) => {
                self.again(key, AddOptions { rate_limited: true, ..AddOptions::default() });
                measures.requeue.add(1);
            }
            Outcome::Succeeded(Action::RequeueAfter(delay)) => {
                self.queue.forget(key);
                self.again(key, AddOptions { after: Some(delay), ..AddOptions::default() });
                measures.requeue_after.add(1);
            }
            Outcome::Failed(error) if error.is_terminal() => {
                tracing::error!(%error, "failed for good; it comes again when something changes");
                self.queue.forget(key);
                measures.terminal.add(1);
                measures.failed();
            }
            Outcome::Failed(error) => {
                tell(&error);
                self.retry(key);
            }
            Outcome::TookTooLong(limit) => {
                tracing::warn!(?limit, "took too long and was cancelled; trying again");
                measures.timeouts.add(1);
                self.retry(key);
            }
            Outcome::Panicked(panic) => {
                tracing::error!(panic, "panicked; trying again");
                measures.panics.add(1);
                self.retry(key);
            }
        }
    }

    fn retry(&self, key: &Work<ObjectKey>) {
        self.measures.failed();
        self.again(key, AddOptions { rate_limited: true, ..AddOptions::default() });
    }

    /// At the priority it has.
    fn again(&self, key: &Work<ObjectKey>, options: AddOptions) {
        self.queue.add_with(ObjectKey::clone(key), AddOptions { priority: key.priority(), ..options });
    }

    /// Each step leaves a whole set, so a panic elsewhere does not spoil it.
    fn at_work(&self) -> MutexGuard<'_, BTreeSet<ObjectKey>> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A conflict is how the server says that the cache is about to bring something newer: nobody needs to read of it.
fn tell(error: &ReconcileError) {
    match error.cause().downcast_ref::<Error>() {
        Some(conflict) if conflict.is_conflict() => tracing::debug!(%error, "trying again"),
        _ => tracing::warn!(%error, "trying again"),
    }
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no text".to_owned())
}

/// Keeps a key among those at work until it is dropped.
struct Present<'a> {
    workshop: &'a Workshop,
    key: &'a ObjectKey,
}

impl<'a> Present<'a> {
    fn new(workshop: &'a Workshop, key: &'a ObjectKey) -> Self {
        workshop.at_work().insert(key.clone());
        Present { workshop, key }
    }
}

impl Drop for Present<'_> {
    fn drop(&mut self) {
        self.workshop.at_work().remove(self.key);
    }
}
