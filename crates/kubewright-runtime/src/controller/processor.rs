//! The worker loop: takes keys from the queue, reconciles them and requeues them according to the result.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::FutureExt;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};
use uuid::Uuid;

use super::{
    gate::Gate,
    key_states::KeyStates,
    metrics::ControllerMetrics,
    own_writes::OwnWrites,
    reconciler::{Action, AnyReconciler, ReconcileError},
    sharded::ShardedKeys,
    status::Processing,
    trigger::Trigger,
};
use crate::{
    error::{Error, panic_message},
    leader_election::is_leadership_over,
    object::ObjectKey,
    sharding::{Admission, SlotGuard},
    workqueue::{AddOptions, WorkItem, WorkQueue},
};

/// How long a worker waits for a cache that has not caught up with the writes. Most caches are faster.
const MAX_CACHE_WAIT: Duration = Duration::from_millis(200);
/// The delay of a key whose cache is slower, or whose slot is suspended, so that other keys are processed.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Processes keys. Shared by the workers of a controller.
pub(super) struct Processor {
    pub(super) name: String,
    pub(super) queue: WorkQueue<ObjectKey>,
    pub(super) reconciler: Box<dyn AnyReconciler>,
    pub(super) gates: Vec<Gate>,
    /// The recorder of the client of the controller, if it has one.
    pub(super) own_writes: Option<Arc<OwnWrites>>,
    pub(super) states: Arc<KeyStates>,
    /// The keys of this replica; `None` if it processes all.
    pub(super) shard: Option<Arc<ShardedKeys>>,
    pub(super) reconciliation_timeout: Duration,
    pub(super) metrics: ControllerMetrics,
    pub(super) processing: Arc<Processing>,
}

/// The result of a reconciliation.
enum Outcome {
    Success(Action),
    Error(ReconcileError),
    Timeout(Duration),
    Panic(String),
    /// It was cancelled, because this replica may no longer hold the slot of the key.
    SlotLost,
}

/// Whether a key can be processed.
enum Readiness {
    Ready,
    /// The caches have not caught up with its writes.
    Waiting,
    /// The key mapping of a gate panicked.
    Panicked(String),
}

impl Processor {
    /// Runs one worker until it is stopped. The current reconciliation is completed.
    pub(super) async fn run_worker(self: Arc<Self>, stop: CancellationToken) {
        loop {
            let (item, readiness) = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                next = self.next() => match next {
                    Some(next) => next,
                    None => return,
                },
            };
            // Reconciliations that do not wait share a poll, during which the process can have been paused.
            if is_leadership_over() {
                return;
            }
            match readiness {
                Readiness::Ready => self.process_owned(&item).await,
                Readiness::Waiting => self.delay(&item),
                Readiness::Panicked(panic) => {
                    tracing::error!(controller = self.name, key = %*item, panic, "a gate panicked; retrying");
                    self.metrics.panics.inc();
                    self.retry(&item);
                }
            }
        }
    }

    /// Returns the next key, and whether it can be processed.
    async fn next(&self) -> Option<(WorkItem<ObjectKey>, Readiness)> {
        let item = self.queue.get().await?;
        let readiness = AssertUnwindSafe(self.readiness(&item)).catch_unwind().await;
        let readiness = readiness.unwrap_or_else(|panic| Readiness::Panicked(panic_message(panic.as_ref())));
        Some((item, readiness))
    }

    async fn readiness(&self, key: &ObjectKey) -> Readiness {
        let mut writes: Vec<_> = self.gates.iter().flat_map(|gate| gate.pending_writes(key)).collect();
        writes.append(&mut self.states.pending_writes(key));
        if writes.is_empty() {
            return Readiness::Ready;
        }
        let all = async {
            for write in &writes {
                write.wait().await;
            }
        };
        match timeout(MAX_CACHE_WAIT, all).await {
            Ok(()) => Readiness::Ready,
            Err(_) => Readiness::Waiting,
        }
    }

    /// Processes a key, if its slot is one of this replica.
    async fn process_owned(&self, key: &WorkItem<ObjectKey>) {
        match self.shard.as_ref().map(|shard| shard.admit(key)) {
            None => self.process(key, None).await,
            Some(Admission::Admitted(slot)) => self.process(key, Some(slot)).await,
            Some(Admission::Suspended) => self.delay(key),
            Some(Admission::NotOwned) => self.discard(key),
        }
    }

    /// Processes a key. Its slot is not released before this returns.
    async fn process(&self, key: &WorkItem<ObjectKey>, slot: Option<SlotGuard>) {
        let (_processing, _active) = (self.processing.start(key), self.metrics.start_reconciliation());
        let (span, started) = (self.span(key), Instant::now());
        let reconcile = self.reconcile(key, span.clone());
        let outcome = match &slot {
            Some(slot) => slot.run(reconcile).await.unwrap_or(Outcome::SlotLost),
            None => reconcile.await,
        };
        self.metrics.observe_time(started.elapsed());
        span.in_scope(|| self.handle_outcome(key, outcome));
    }

    /// Creates the span of a reconciliation, with the field names of controller-runtime. Its level is that of errors,
    /// so that it is enabled if only errors are logged: their lines have its fields.
    fn span(&self, key: &ObjectKey) -> Span {
        let trigger = self.states.take_trigger(key);
        tracing::error_span!(
            "reconcile",
            controller = self.name,
            namespace = key.namespace(),
            name = key.name(),
            reconcileID = %Uuid::new_v4(),
            %trigger,
        )
    }

    /// Calls the reconciler. A panic is caught, whether the future is created or polled.
    async fn reconcile(&self, key: &ObjectKey, span: Span) -> Outcome {
        let run = AssertUnwindSafe(async {
            let reconcile = self.reconciler.reconcile(key.clone());
            match &self.own_writes {
                Some(writes) => writes.scope(key, reconcile).await,
                None => reconcile.await,
            }
        });
        let run = run.catch_unwind().instrument(span);
        match timeout(self.reconciliation_timeout, run).await {
            Ok(Ok(Ok(action))) => Outcome::Success(action),
            Ok(Ok(Err(error))) => Outcome::Error(error),
            Ok(Err(panic)) => Outcome::Panic(panic_message(panic.as_ref())),
            Err(_) => Outcome::Timeout(self.reconciliation_timeout),
        }
    }

    /// Records, logs and requeues. The key is still being processed, so it is requeued when that is done.
    fn handle_outcome(&self, key: &WorkItem<ObjectKey>, outcome: Outcome) {
        let metrics = &self.metrics;
        match outcome {
            Outcome::Success(Action::Done) => {
                self.forget(key);
                metrics.success.inc();
            }
            Outcome::Success(Action::Requeue) => {
                let options = AddOptions { rate_limited: true, ..AddOptions::default() };
                self.requeue(key, Trigger::Requeue, options);
                metrics.requeue.inc();
            }
            Outcome::Success(Action::RequeueAfter(delay)) => {
                self.queue.forget(key);
                let options = AddOptions { after: Some(delay), ..AddOptions::default() };
                self.requeue(key, Trigger::RequeueAfter, options);
                metrics.requeue_after.inc();
            }
            Outcome::Error(error) if error.is_terminal() => {
                tracing::error!(%error, "terminal error; not retrying until the object changes");
                self.forget(key);
                metrics.terminal_errors.inc();
                metrics.count_error();
            }
            Outcome::Error(error) => {
                log_retry(&error);
                self.retry(key);
            }
            Outcome::Timeout(limit) => {
                tracing::warn!(?limit, "reconciliation timed out and was cancelled; retrying");
                metrics.timeouts.inc();
                self.retry(key);
            }
            Outcome::Panic(panic) => {
                tracing::error!(panic, "reconciliation panicked; retrying");
                metrics.panics.inc();
                self.retry(key);
            }
            Outcome::SlotLost => {
                tracing::warn!("reconciliation was cancelled: the Lease of this replica was not renewed in time");
                self.delay(key);
            }
        }
    }

    /// Resets the failures of a key that is done.
    fn forget(&self, key: &WorkItem<ObjectKey>) {
        self.queue.forget(key);
        self.states.remove_deleted_slot(key);
    }

    /// Drops a key that another replica processes.
    fn discard(&self, key: &WorkItem<ObjectKey>) {
        self.queue.forget(key);
        self.states.discard(key);
    }

    fn retry(&self, key: &WorkItem<ObjectKey>) {
        self.metrics.count_error();
        self.requeue(key, Trigger::Retry, AddOptions { rate_limited: true, ..AddOptions::default() });
    }

    /// Requeues a key whose cache is slow, or whose slot is suspended. This is no cause of a reconciliation.
    fn delay(&self, key: &WorkItem<ObjectKey>) {
        let options = AddOptions { after: Some(RETRY_DELAY), priority: key.priority(), ..AddOptions::default() };
        self.queue.add_with(ObjectKey::clone(key), options);
    }

    /// Requeues a key with its current priority.
    fn requeue(&self, key: &WorkItem<ObjectKey>, trigger: Trigger, options: AddOptions) {
        self.states.record_requeue(key, trigger);
        self.queue.add_with(ObjectKey::clone(key), AddOptions { priority: key.priority(), ..options });
    }
}

/// Logs an error that is retried. Conflicts are only logged at debug level: they mean that the cache is not up to date
/// yet.
fn log_retry(error: &ReconcileError) {
    match error.cause().downcast_ref::<Error>() {
        Some(conflict) if conflict.is_conflict() => tracing::debug!(%error, "retrying"),
        _ => tracing::warn!(%error, "retrying"),
    }
}
