//! Controllers: they watch informers, queue keys and call a reconciler for each key.

mod allow;
mod applied;
mod builder;
mod children;
mod finalizer;
mod gate;
mod key_states;
mod loop_guard;
mod mapping;
mod metrics;
mod object;
mod own_writes;
mod predicate;
mod processor;
mod reconciler;
mod references;
mod sharded;
mod status;
mod target;
mod trigger;
mod watch;
mod write_layer;
mod writes;

use std::{fmt, future::pending, io, panic::resume_unwind, pin::pin, sync::Arc, time::Duration};

use futures::future::{join_all, select_all, try_join_all};
use kubewright_core::description::{ControllerDescription, Permission};
use tokio::{
    task::{JoinError, JoinSet},
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

pub use allow::Allow;
pub use builder::ControllerBuilder;
pub use children::MANAGED_BY_LABEL;
pub use finalizer::{FinalizerEvent, finalize};
pub use kubewright_core::description::Verb;
pub use object::{ObjectReconciler, ReconcileContext};
pub use predicate::Predicate;
pub use reconciler::{Action, ReconcileError, Reconciler};
pub use status::{ControllerStatus, ReconcileStuck};
pub use watch::{IntoWatch, Watch};

use crate::{
    factory::InformerFactory,
    leader_election::fenced,
    object::ObjectKey,
    sharding::{Participant, SlotSet, StartHandler},
    signal::termination,
    workqueue::WorkQueue,
};
use processor::Processor;
use watch::Subscription;

/// Drives the observed state of objects towards their desired state, one object at a time.
///
/// Guarantees:
/// - a key is processed after every event of its object, of objects that it owns, and of objects that are mapped to it;
///   several events before the processing are one;
/// - a key is also processed if its object was deleted: the lister then does not return it;
/// - a key is never processed concurrently, no matter how many workers there are;
/// - no key is processed before every watched informer has synced, nor before the caches contain the writes of its last
///   reconciliation that the [client of the controller](ControllerBuilder::build_with_client) sent, and those that are
///   recorded in its [gates](ControllerBuilder::read_your_writes);
/// - a reconciliation that fails, times out or panics is retried with a back-off. A terminal error is not retried and
///   resets the back-off;
/// - a panic of user code loses no key: an event for which a predicate panics matches, a mapping that panics is
///   retried, and so is a key for which the mapping of a gate panics;
/// - if an informer that it watches, or one of its factory, fails or is stopped, [`run`](Self::run) stops and returns
///   an error with its name;
/// - a reconciliation that only the writes of its client to the object caused is counted, and a loop of them is logged;
/// - initial objects do not delay changes, and do not starve, as the queue has ageing;
/// - in the work of a [`LeaderElector`](crate::LeaderElector), no reconciliation is polled after the time at which the
///   work must have ended, even if the process was paused;
/// - with a [sharding](ControllerBuilder::sharding), only keys in the slots of this replica are processed. All keys of
///   a slot are processed once when it is acquired, and a slot is released when none of its keys is being processed;
/// - when stopped, running reconciliations can complete within the graceful shutdown timeout and are then cancelled. No
///   task outlives [`run`](Self::run), unless it blocks its thread: the error then contains its key, and the process
///   must be exited. A reconciler that blocks needs `tokio::task::spawn_blocking`, and the runtime a second thread;
/// - every reconciliation has a `tracing` span `reconcile`, which contains the events and requests of the reconciler,
///   with the fields of controller-runtime's logger: `controller`, `namespace`, `name`, `reconcileID`. The field
///   `trigger` is why the key was in the queue, such as `ConfigMap updated` or `retry`.
///
/// A controller starts no informer unless it has a factory to [start](ControllerBuilder::start_factory). Its queue is
/// filled from the time it is [built](ControllerBuilder::build), so a replica that waits for leadership is warm when it
/// is run.
pub struct Controller {
    processor: Arc<Processor>,
    watches: Arc<[Box<dyn Subscription>]>,
    max_concurrent_reconciles: usize,
    timeouts: Timeouts,
    /// Whether a forbidden informer is waited for without limit.
    waits_while_forbidden: bool,
    factory: Option<InformerFactory>,
    description: ControllerDescription,
    /// The permissions that were declared.
    allowed: Vec<Permission>,
    /// Why it cannot run.
    invalid: Option<String>,
    /// Delays the acquisition of slots until the workers run.
    participant: Option<Participant>,
    /// Queues the keys of acquired slots.
    _acquired: Option<Arc<dyn StartHandler>>,
}

#[derive(Clone, Copy)]
struct Timeouts {
    cache_sync: Duration,
    graceful_shutdown: Duration,
}

/// How long cancelled reconciliations can take to end. They end at once, unless they block their thread.
const CANCELLATION_TIMEOUT: Duration = Duration::from_secs(1);

/// The reason why a controller did not run, or did not stop in time.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// An informer did not sync in time or is stopped.
    #[error("controller `{controller}` cannot start: not synced after {waited:?}: {}", reasons.join("; "))]
    NotSynced {
        /// The name of the controller.
        controller: String,
        /// The time waited.
        waited: Duration,
        /// One reason for each such informer, with the last error of its requests, if any.
        reasons: Vec<String>,
    },
    /// The shardings of its watches contradict each other, or a reference cannot be indexed.
    #[error("controller `{controller}` cannot start: {reason}")]
    Invalid {
        /// The name of the controller.
        controller: String,
        /// The kind, and what to change.
        reason: String,
    },
    /// Reconciliations did not end within the graceful shutdown timeout and were cancelled.
    #[error(
        "controller `{controller}` stopped, but cancelled reconciliations that did not end within {timeout:?}: {}",
        join_keys(keys)
    )]
    Cancelled {
        /// The name of the controller.
        controller: String,
        /// The graceful shutdown timeout.
        timeout: Duration,
        /// The keys that were being processed.
        keys: Vec<ObjectKey>,
    },
    /// Reconciliations block their thread, so they could not be cancelled and are still running.
    #[error(
        "controller `{controller}` stopped, but reconciliations block their thread and cannot be cancelled: {}; use \
         `tokio::task::spawn_blocking`",
        join_keys(keys)
    )]
    Blocked {
        /// The name of the controller.
        controller: String,
        /// The keys that are being processed.
        keys: Vec<ObjectKey>,
    },
    /// An informer failed or was stopped while the controller was running.
    #[error("controller `{controller}` stopped: {reason}")]
    InformerFailed {
        /// The name of the controller.
        controller: String,
        /// The reason, with the name of the informer.
        reason: String,
    },
    /// The handler of termination signals could not be installed.
    #[error("controller `{controller}` cannot start: cannot handle termination signals")]
    Signal {
        /// The name of the controller.
        controller: String,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
}

impl Controller {
    /// Returns a builder of a controller for the objects of this informer, or of a [`Watch`] that filters its events.
    /// The name is for logs and metrics, such as `loggers`, and must be unique in the program.
    #[expect(clippy::new_ret_no_self, reason = "a controller is built")]
    pub fn new<W: IntoWatch>(name: impl Into<String>, watch: W) -> ControllerBuilder<W::Kind> {
        ControllerBuilder::new(name.into(), watch)
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.processor.name
    }

    /// Returns the kinds that it reconciles, owns and watches.
    pub fn describe(&self) -> &ControllerDescription {
        &self.description
    }

    /// Returns the permissions that it needs: those that follow from its kinds, and the
    /// [declared](ControllerBuilder::allow) ones.
    pub fn permissions(&self) -> Vec<Permission> {
        let mut permissions = self.description.permissions();
        permissions.extend(self.allowed.iter().cloned());
        permissions
    }

    /// Returns the queue, to add keys for events that no informer reports, such as changes outside the cluster.
    pub fn queue(&self) -> &WorkQueue<ObjectKey> {
        &self.processor.queue
    }

    /// Returns the status, for health checks while the controller runs.
    pub fn status(&self) -> ControllerStatus {
        ControllerStatus::new(
            self.name().to_owned(),
            self.processor.reconciliation_timeout,
            Arc::clone(&self.processor.processing),
            Arc::clone(&self.watches),
        )
    }

    /// Waits until every watched informer has synced and the queue contains the initial objects, for example for a
    /// readiness probe.
    ///
    /// # Errors
    /// Fails if an informer has not synced in time or is stopped, with the reasons.
    pub async fn wait_for_sync(&self) -> Result<(), RunError> {
        let started = Instant::now();
        let all = try_join_all(
            self.watches.iter().map(|watch| async { watch.wait_for_sync().await.then_some(()).ok_or(()) }),
        );
        let waited = tokio::select! {
            biased;
            synced = all => match synced {
                Ok(_) => return Ok(()),
                Err(()) => started.elapsed(),
            },
            () = self.sync_overdue(started) => started.elapsed(),
        };
        let mut reasons: Vec<_> = self.watches.iter().filter_map(|watch| watch.why_not_synced()).collect();
        reasons.sort();
        reasons.dedup();
        match reasons.is_empty() {
            // The last one synced in the meantime.
            true => Ok(()),
            false => Err(RunError::NotSynced { controller: self.name().to_owned(), waited, reasons }),
        }
    }

    /// Waits until no watched informer has made progress for the timeout. A forbidden informer does not count if the
    /// controller [waits for it](Self::wait_while_forbidden).
    async fn sync_overdue(&self, started: Instant) {
        let mut last = started;
        loop {
            let deadline = last.checked_add(self.timeouts.cache_sync);
            match deadline {
                Some(deadline) if deadline > Instant::now() => sleep_until(deadline).await,
                Some(_) => return,
                None => pending().await,
            }
            last = self.watches.iter().filter_map(|watch| watch.sync_progress()).max().map_or(last, |at| at.max(last));
            if self.waits_while_forbidden && self.watches.iter().any(|watch| watch.is_forbidden()) {
                last = Instant::now();
            }
        }
    }

    /// Waits without limit for informers whose requests are forbidden. By default, [`run`](Self::run) fails after the
    /// timeout for them as well. For programs with several controllers: one missing permission does not end the others.
    #[must_use]
    pub fn wait_while_forbidden(mut self) -> Self {
        self.waits_while_forbidden = true;
        self
    }

    /// Processes keys until cancelled, and then stops. Keys that are left in the queue are dropped: another controller
    /// starts from the observed state, like after a crash.
    ///
    /// # Errors
    /// Fails if an informer has not synced in time, failed or was stopped, or reconciliations had to be cancelled when
    /// stopping.
    ///
    /// # Panics
    /// Resumes a panic of the rate limiter.
    pub async fn run(self, cancelled: CancellationToken) -> Result<(), RunError> {
        let result = {
            let _running = self.processor.processing.running();
            self.run_workers(cancelled).await
        };
        let ends = join_all(self.watches.iter().map(|watch| watch.end()));
        if timeout(self.timeouts.graceful_shutdown.max(CANCELLATION_TIMEOUT), ends).await.is_err() {
            tracing::error!(controller = self.name(), "a key mapping or predicate blocks its thread");
        }
        result
    }

    /// Runs until the process receives SIGTERM or SIGINT, and then stops, as
    /// [`run`](Self::run) does when cancelled. The process continues: return from `main` afterwards. Further signals
    /// are ignored, as the graceful shutdown timeout limits the stop.
    ///
    /// # Errors
    /// Fails like `run`, or if the handler of the signals cannot be installed.
    ///
    /// # Panics
    /// Resumes a panic of the rate limiter.
    pub async fn run_until_signal(self) -> Result<(), RunError> {
        let name = self.name().to_owned();
        let received = termination().map_err(|source| RunError::Signal { controller: name.clone(), source })?;
        let cancelled = CancellationToken::new();
        let mut run = pin!(self.run(cancelled.clone()));
        tokio::select! {
            result = &mut run => return result,
            () = received => tracing::info!(controller = name, "received a termination signal; stopping"),
        }
        cancelled.cancel();
        run.await
    }

    async fn run_workers(&self, cancelled: CancellationToken) -> Result<(), RunError> {
        if let Some(reason) = self.invalid.clone() {
            return Err(RunError::Invalid { controller: self.name().to_owned(), reason });
        }
        if let Some(factory) = &self.factory {
            factory.start();
        }
        tokio::select! {
            biased;
            () = cancelled.cancelled() => return Ok(()),
            synced = self.wait_for_sync() => synced?,
        }
        tracing::info!(controller = self.name(), workers = self.max_concurrent_reconciles, "starting workers");
        let (mut workers, stop) = (JoinSet::new(), cancelled.child_token());
        for _ in 0..self.max_concurrent_reconciles {
            let worker = fenced(Arc::clone(&self.processor).run_worker(stop.clone()));
            workers.spawn(async move { worker.await.unwrap_or_default() });
        }
        self.participant.iter().for_each(|participant| participant.set_synced(SlotSet::ALL));
        let ended = tokio::select! {
            biased;
            () = cancelled.cancelled() => None,
            // The queue was shut down.
            () = join_workers(&mut workers) => return Ok(()),
            reason = self.informer_ended() => Some(reason),
            _ = join_all(self.watches.iter().map(|watch| watch.retry_mappings())) => None,
        };
        stop.cancel();
        let stopped = self.stop(workers).await;
        let Some(reason) = ended else { return stopped };
        if let Err(error) = stopped {
            tracing::error!(%error, "the controller did not stop in time");
        }
        Err(RunError::InformerFailed { controller: self.name().to_owned(), reason })
    }

    /// Waits until an informer of the controller fails or is stopped, and returns the reason.
    async fn informer_ended(&self) -> String {
        let factory = async {
            match &self.factory {
                Some(factory) => factory.failed().await.to_string(),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            (reason, _, _) = select_all(self.watches.iter().map(|watch| watch.ended())) => reason,
            reason = factory => reason,
        }
    }

    async fn stop(&self, mut workers: JoinSet<()>) -> Result<(), RunError> {
        self.queue().shut_down();
        let grace = self.timeouts.graceful_shutdown;
        if timeout(grace, join_workers(&mut workers)).await.is_ok() {
            return Ok(());
        }
        let (controller, keys) = (self.name().to_owned(), self.processor.processing.keys());
        if timeout(CANCELLATION_TIMEOUT, workers.shutdown()).await.is_err() {
            return Err(RunError::Blocked { controller, keys: self.processor.processing.keys() });
        }
        match keys.is_empty() {
            true => Ok(()),
            false => Err(RunError::Cancelled { controller, timeout: grace, keys }),
        }
    }
}

/// Waits for all workers.
async fn join_workers(workers: &mut JoinSet<()>) {
    while let Some(result) = workers.join_next().await {
        if let Err(Ok(panic)) = result.map_err(JoinError::try_into_panic) {
            resume_unwind(panic);
        }
    }
}

fn join_keys(keys: &[ObjectKey]) -> String {
    keys.iter().map(ObjectKey::as_str).collect::<Vec<_>>().join(", ")
}

/// Removes the handlers of the controller from its informers.
impl Drop for Controller {
    fn drop(&mut self) {
        self.watches.iter().for_each(|watch| drop(watch.end()));
        self.queue().shut_down();
    }
}

impl fmt::Debug for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller")
            .field("name", &self.name())
            .field("max_concurrent_reconciles", &self.max_concurrent_reconciles)
            .finish_non_exhaustive()
    }
}
