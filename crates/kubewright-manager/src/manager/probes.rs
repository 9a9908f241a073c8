//! The health of runnables and of the manager.

use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use futures::future::BoxFuture;
use kubewright_runtime::CancellationToken;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::{caches::CacheProbe, error::BoxError};
use crate::health::{AddCheckError, HealthChecks};

pub(super) type CheckFn = dyn Fn() -> Result<(), String> + Send + Sync;
pub(super) type ProgressFn = dyn Fn() -> Option<Instant> + Send + Sync;

/// The health checks of a [`Runnable`](super::Runnable), and when it has started.
#[derive(Default)]
#[must_use = "probes are only used if `Runnable::probes` returns them"]
pub struct Probes {
    pub(super) live: Option<Box<CheckFn>>,
    pub(super) ready: Option<Box<CheckFn>>,
    pub(super) started: Option<BoxFuture<'static, Result<(), BoxError>>>,
    pub(super) progress: Option<Box<ProgressFn>>,
    pub(super) caches: Option<CacheProbe>,
}

impl Probes {
    /// Sets the liveness check. It runs while the task runs. That the task runs is always checked.
    pub fn live<E: fmt::Display>(mut self, check: impl Fn() -> Result<(), E> + Send + Sync + 'static) -> Self {
        self.live = Some(Box::new(move || check().map_err(|error| error.to_string())));
        self
    }

    /// Sets the readiness check. It runs while the task runs.
    pub fn ready<E: fmt::Display>(mut self, check: impl Fn() -> Result<(), E> + Send + Sync + 'static) -> Self {
        self.ready = Some(Box::new(move || check().map_err(|error| error.to_string())));
        self
    }

    /// Sets the future that completes when the runnable has started. Later stages wait for it. An error stops the
    /// manager. If it does not complete within the [start timeout](super::ManagerBuilder::start_timeout), the reason is
    /// that of the readiness check.
    pub fn started<E: Into<BoxError> + 'static>(
        mut self,
        started: impl Future<Output = Result<(), E>> + Send + 'static,
    ) -> Self {
        self.started = Some(Box::pin(async move { started.await.map_err(Into::into) }));
        self
    }

    /// Sets the function that returns when the start last made progress. The start timeout restarts then.
    pub fn progress(mut self, progress: impl Fn() -> Option<Instant> + Send + Sync + 'static) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Sets the readiness check of caches, in place of another one. It fails only while no cache of the manager is up
    /// to date.
    pub(super) fn caches(mut self, caches: CacheProbe) -> Self {
        self.caches = Some(caches);
        self
    }
}

impl fmt::Debug for Probes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Probes { live, ready, started, progress, caches } = self;
        f.debug_struct("Probes")
            .field("live", &live.is_some())
            .field("ready", &ready.is_some())
            .field("started", &started.is_some())
            .field("progress", &progress.is_some())
            .field("caches", &caches.is_some())
            .finish()
    }
}

/// The state of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    /// Its stage or the leadership has not begun.
    Waiting,
    Running,
    Ended,
    /// It ended although it was not stopped, or its end was an error.
    Failed(String),
}

/// The name and the state of a task.
#[derive(Debug)]
pub(super) struct TaskState {
    pub(super) name: String,
    phase: Mutex<Phase>,
}

impl TaskState {
    pub(super) fn new(name: String) -> Self {
        TaskState { name, phase: Mutex::new(Phase::Waiting) }
    }

    pub(super) fn set_running(&self) {
        *self.phase.lock() = Phase::Running;
    }

    pub(super) fn is_running(&self) -> bool {
        *self.phase.lock() == Phase::Running
    }

    /// Marks the task as ended, unless it failed.
    pub(super) fn set_ended(&self) {
        let mut phase = self.phase.lock();
        if !matches!(*phase, Phase::Failed(_)) {
            *phase = Phase::Ended;
        }
    }

    pub(super) fn fail(&self, reason: String) {
        *self.phase.lock() = Phase::Failed(reason);
    }

    pub(super) fn check_live(&self, check: Option<&CheckFn>) -> Result<(), String> {
        let phase = self.phase.lock().clone();
        match (phase, check) {
            (Phase::Failed(reason), _) => Err(reason),
            (Phase::Running, Some(check)) => check(),
            _ => Ok(()),
        }
    }

    pub(super) fn check_ready(&self, check: &CheckFn) -> Result<(), String> {
        if self.is_running() { check() } else { Ok(()) }
    }
}

/// The state of a manager.
#[derive(Debug, Default)]
pub(super) struct RunState {
    /// Set when the manager is run. Cancelled when it stops.
    stopping: OnceLock<CancellationToken>,
    is_started: AtomicBool,
}

impl RunState {
    /// Marks the manager as running until `stop`. Returns the token that is cancelled when it stops for any reason.
    pub(super) fn start(&self, stop: &CancellationToken) -> CancellationToken {
        self.stopping.get_or_init(|| stop.child_token()).clone()
    }

    /// Returns a token that is cancelled when the manager stops.
    pub(super) fn stopping(&self) -> CancellationToken {
        self.stopping.get().map(CancellationToken::child_token).unwrap_or_default()
    }

    /// Marks the runnables that are independent of the leadership as started.
    pub(super) fn set_started(&self) {
        self.is_started.store(true, Ordering::Release);
    }

    fn check_started(&self) -> Result<(), &'static str> {
        match self.is_started.load(Ordering::Acquire) {
            true => Ok(()),
            false => Err("not all runnables have started"),
        }
    }

    /// The text is that of kube-apiserver.
    fn check_not_stopping(&self) -> Result<(), &'static str> {
        match self.stopping.get().is_some_and(CancellationToken::is_cancelled) {
            true => Err("process is shutting down"),
            false => Ok(()),
        }
    }

    /// Adds the check `shutdown`, and `startup` if readiness includes the start.
    pub(super) fn add_checks(
        self: &Arc<Self>,
        health: &HealthChecks,
        includes_start: bool,
    ) -> Result<(), AddCheckError> {
        let (startup, shutdown) = (Arc::clone(self), Arc::clone(self));
        if includes_start {
            health.add_ready("startup", move || startup.check_started())?;
        }
        health.add_ready("shutdown", move || shutdown.check_not_stopping())
    }
}
