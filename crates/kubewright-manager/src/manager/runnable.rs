//! Runnables: what a manager runs as a supervised task.

use std::sync::Arc;

use futures::future::BoxFuture;
use kubewright_core::description::OperatorDescription;
use kubewright_runtime::CancellationToken;

use super::{
    caches::Caches,
    error::{AddError, BoxError},
    probes::{CheckFn, Probes, ProgressFn, TaskState},
};
use crate::health::HealthChecks;

/// In which processes a runnable runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replicas {
    /// In every process: servers, informers, whatever only reads.
    All,
    /// In the leader only: whatever must not run twice, such as controllers. Without
    /// [leader election](super::ManagerBuilder::leader_election), in every process.
    Leader,
}

/// The position of a runnable in the order of starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// HTTP servers, such as that of the health checks.
    Servers,
    /// Servers of webhooks: caches can need them, if the API server calls them to convert objects.
    Webhooks,
    /// Informers, and others that controllers depend on.
    Caches,
    /// All others.
    Others,
}

impl Stage {
    /// The stages in the order of starts.
    pub(super) const ALL: [Stage; 4] = [Stage::Servers, Stage::Webhooks, Stage::Caches, Stage::Others];
}

/// A task of a manager: it runs until it is stopped.
///
/// Controllers, informer factories and event workers are runnables, and so are functions:
///
/// ```
/// use kubewright_manager::{BoxError, CancellationToken, Replicas, ManagerBuilder};
///
/// fn add(builder: ManagerBuilder) -> ManagerBuilder {
///     builder.add(Replicas::All, "heartbeat", |stop: CancellationToken| async move {
///         stop.cancelled().await;
///         Ok::<_, BoxError>(())
///     })
/// }
/// ```
pub trait Runnable: Sized + Send + 'static {
    /// Runs until `stop` is cancelled, and then ends soon. A runnable that returns before is an error of the manager,
    /// even if it returns `Ok`. It must not leave detached tasks behind.
    fn run(self, stop: CancellationToken) -> impl Future<Output = Result<(), BoxError>> + Send;

    /// Returns when it starts, relative to others. [`Stage::Others`] by default. Runnables of
    /// [`Replicas::Leader`] start after all stages.
    fn stage(&self) -> Stage {
        Stage::Others
    }

    /// Changes the stage.
    fn at_stage(self, stage: Stage) -> AtStage<Self> {
        AtStage { runnable: self, stage }
    }

    /// Returns a function that describes it: its informers, controllers and servers, and the permissions that it needs.
    /// Nothing by default. See [`ManagerBuilder::describe`](super::ManagerBuilder::describe).
    fn describe(&self) -> DescribeFn {
        Box::new(OperatorDescription::default)
    }

    /// Returns its health checks, and when it has started. None by default: it has started when it runs.
    fn probes(&self) -> Probes {
        Probes::default()
    }
}

impl<F, Fut, E> Runnable for F
where
    F: FnOnce(CancellationToken) -> Fut + Send + 'static,
    Fut: Future<Output = Result<(), E>> + Send,
    E: Into<BoxError>,
{
    async fn run(self, stop: CancellationToken) -> Result<(), BoxError> {
        self(stop).await.map_err(Into::into)
    }
}

/// A runnable of another stage: see [`Runnable::at_stage`].
#[derive(Clone, Debug)]
pub struct AtStage<R> {
    runnable: R,
    stage: Stage,
}

impl<R: Runnable> Runnable for AtStage<R> {
    fn run(self, stop: CancellationToken) -> impl Future<Output = Result<(), BoxError>> + Send {
        self.runnable.run(stop)
    }

    fn stage(&self) -> Stage {
        self.stage
    }

    fn describe(&self) -> DescribeFn {
        self.runnable.describe()
    }

    fn probes(&self) -> Probes {
        self.runnable.probes()
    }
}

/// Describes a runnable when the manager is described: informers can be requested after their factory was added.
pub type DescribeFn = Box<dyn Fn() -> OperatorDescription + Send>;

/// A runnable with its type erased, that has not started yet.
pub(super) struct Registered {
    pub(super) replicas: Replicas,
    pub(super) stage: Stage,
    pub(super) run: RunFn,
    pub(super) started: Option<BoxFuture<'static, Result<(), BoxError>>>,
    pub(super) ready: Option<Arc<CheckFn>>,
    pub(super) progress: Option<Box<ProgressFn>>,
    pub(super) describe: DescribeFn,
    pub(super) state: Arc<TaskState>,
}

pub(super) type RunFn = Box<dyn FnOnce(CancellationToken) -> BoxFuture<'static, Result<(), BoxError>> + Send>;

impl Registered {
    /// Registers a runnable with its checks.
    pub(super) fn new(
        replicas: Replicas,
        name: String,
        runnable: impl Runnable,
        health: &HealthChecks,
        all_caches: &Caches,
    ) -> Result<Self, AddError> {
        let (stage, Probes { live, ready, started, progress, caches }) = (runnable.stage(), runnable.probes());
        let describe = runnable.describe();
        let state = Arc::new(TaskState::new(name.clone()));
        let task = Arc::clone(&state);
        health.add_live(&name, move || task.check_live(live.as_deref()))?;
        let mut ready = ready.map(Arc::<CheckFn>::from);
        if let Some(probe) = caches.map(Arc::new) {
            let (task, all, checked) = (Arc::clone(&state), all_caches.clone(), Arc::clone(&probe));
            health.add_ready(name, move || if task.is_running() { all.check(&checked) } else { Ok(()) })?;
            all_caches.add(Arc::clone(&probe));
            ready = Some(Arc::new(move || up_to_date(&(probe.why_outdated)())));
        } else if let Some(ready) = ready.clone() {
            let task = Arc::clone(&state);
            health.add_ready(name, move || task.check_ready(&*ready))?;
        }
        let run: RunFn = Box::new(move |stop| Box::pin(runnable.run(stop)));
        Ok(Registered { replicas, stage, run, started, ready, progress, describe, state })
    }
}

fn up_to_date(reasons: &[String]) -> Result<(), String> {
    match reasons {
        [] => Ok(()),
        reasons => Err(reasons.join("; ")),
    }
}
