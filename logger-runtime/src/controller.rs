//! The controller: watches informers, queues keys, and has a reconciler work on them.

mod builder;
mod gate;
mod measures;
mod predicate;
mod reconciler;
mod watch;
mod worker;

use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{join_all, try_join_all};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::factory::InformerFactory;
use crate::key::ObjectKey;
use crate::workqueue::WorkQueue;
pub use builder::ControllerBuilder;
pub use predicate::Predicate;
pub use reconciler::{Action, ReconcileError, Reconciler};
use watch::Subscription;
pub use watch::{IntoWatch, Watch};
use worker::Workshop;

/// Keeps what is so in step with what is wanted, one object at a time.
///
/// It promises:
/// - a key is worked on after every event of its object, after events of what the object owns, and after those that a mapping
///   says; several events before the work begins are one;
/// - a key is worked on also when its object is gone: the lister has nothing under it then;
/// - the work on one key is never done twice at once, however many workers there are;
/// - no work begins before every watched informer has synced, and none on a key before the caches of its
///   [gates](ControllerBuilder::read_your_writes) have what was written of it;
/// - work that fails, takes too long or panics is done again, later each time; work that fails for good is not, and what failed
///   before is forgotten;
/// - what was there at the start does not keep changes waiting, and waits no longer than the queue's ageing lets it;
/// - at a stop, what is at work goes on for the grace period and is then cancelled; no task outlives [`run`](Self::run);
/// - every reconciliation is in a `tracing` span `reconcile` with the controller's name, the key and a number.
///
/// It starts no informer unless it is given a factory to [start](ControllerBuilder::starting). Its queue fills from when it
/// is [built](ControllerBuilder::build): a replica that waits to be leader is warm when it becomes so, and runs then.
pub struct Controller {
    workshop: Arc<Workshop>,
    watches: Vec<Box<dyn Subscription>>,
    workers: usize,
    limits: Limits,
    factory: Option<InformerFactory>,
}

/// How long things may take.
#[derive(Clone, Copy)]
struct Limits {
    sync: Duration,
    grace: Duration,
}

/// Why a controller did not run, or did not stop in time.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Not every informer synced in time, or one has stopped.
    #[error("controller `{controller}` cannot begin: not synced after {waited:?}: {}", reasons.join("; "))]
    NotSynced {
        /// Its name.
        controller: String,
        /// How long was waited.
        waited: Duration,
        /// One for each informer that did not, with the last error from the server if there was one.
        reasons: Vec<String>,
    },
    /// What was at work at the stop did not end within the grace period and was cancelled.
    #[error("controller `{controller}` stopped, but cancelled what did not end within {grace:?}: {}", listed(keys))]
    Cancelled {
        /// Its name.
        controller: String,
        /// How long was waited.
        grace: Duration,
        /// What was being worked on.
        keys: Vec<ObjectKey>,
    },
}

impl Controller {
    /// Describes a controller of the objects of this informer, or of a [`Watch`] of some of its events. The name is for logs
    /// and metrics, such as `loggers`; a program gives each controller its own.
    pub fn for_informer<W: IntoWatch>(name: impl Into<String>, watch: W) -> ControllerBuilder<W::Kind> {
        ControllerBuilder::new(name.into(), watch)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.workshop.name
    }

    /// Its queue, to add keys that no informer knows of, as when something outside the cluster changed.
    pub fn queue(&self) -> &WorkQueue<ObjectKey> {
        &self.workshop.queue
    }

    /// Waits until every watched informer has synced and the queue holds what was there; what a readiness probe asks.
    ///
    /// # Errors
    /// One has not in time, or has stopped: the error says which, and why.
    pub async fn wait_for_sync(&self) -> Result<(), RunError> {
        let began = Instant::now();
        let all = try_join_all(
            self.watches.iter().map(|watch| async { watch.wait_for_sync().await.then_some(()).ok_or(()) }),
        );
        let waited = match timeout(self.limits.sync, all).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(())) => began.elapsed(),
            Err(_) => self.limits.sync,
        };
        let mut reasons: Vec<_> = self.watches.iter().filter_map(|watch| watch.why_not_synced()).collect();
        reasons.sort();
        reasons.dedup();
        match reasons.is_empty() {
            // The last one synced just now.
            true => Ok(()),
            false => Err(RunError::NotSynced { controller: self.name().to_owned(), waited, reasons }),
        }
    }

    /// Works until cancelled, and then stops: what waits in the queue is left. A second controller takes it up from what
    /// is so, as one does after a crash.
    ///
    /// # Errors
    /// An informer has not synced in time, or work had to be cancelled at the stop.
    ///
    /// # Panics
    /// The metrics that it was given panic.
    pub async fn run(self, cancelled: CancellationToken) -> Result<(), RunError> {
        let ended = self.work(cancelled).await;
        join_all(self.watches.iter().map(|watch| watch.end())).await;
        ended
    }

    async fn work(&self, cancelled: CancellationToken) -> Result<(), RunError> {
        if let Some(factory) = &self.factory {
            factory.start();
        }
        tokio::select! {
            biased;
            () = cancelled.cancelled() => return Ok(()),
            synced = self.wait_for_sync() => synced?,
        }
        tracing::info!(controller = self.name(), workers = self.workers, "working");
        let mut workers = JoinSet::new();
        for _ in 0..self.workers {
            workers.spawn(Arc::clone(&self.workshop).work(cancelled.clone()));
        }
        tokio::select! {
            () = cancelled.cancelled() => {}
            // Somebody shut the queue down.
            () = ended(&mut workers) => return Ok(()),
        }
        self.stop(workers).await
    }

    async fn stop(&self, mut workers: JoinSet<()>) -> Result<(), RunError> {
        self.queue().shut_down();
        let grace = self.limits.grace;
        if timeout(grace, ended(&mut workers)).await.is_ok() {
            return Ok(());
        }
        let keys = self.workshop.keys_at_work();
        workers.shutdown().await;
        match keys.is_empty() {
            true => Ok(()),
            false => Err(RunError::Cancelled { controller: self.name().to_owned(), grace, keys }),
        }
    }
}

/// Waits for all of them.
async fn ended(workers: &mut JoinSet<()>) {
    while let Some(ended) = workers.join_next().await {
        if let Err(Ok(panic)) = ended.map_err(JoinError::try_into_panic) {
            resume_unwind(panic);
        }
    }
}

fn listed(keys: &[ObjectKey]) -> String {
    keys.iter().map(ObjectKey::as_str).collect::<Vec<_>>().join(", ")
}

/// Its informers feed it no more.
impl Drop for Controller {
    fn drop(&mut self) {
        self.watches.iter().for_each(|watch| drop(watch.end()));
        self.queue().shut_down();
    }
}

impl fmt::Debug for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller").field("name", &self.name()).field("workers", &self.workers).finish_non_exhaustive()
    }
}
