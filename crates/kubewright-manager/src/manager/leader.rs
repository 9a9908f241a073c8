//! The runnables of the leader: they run within the work of the elector, which cancels them if the lease is lost.

use std::{future::pending, sync::Arc};

use parking_lot::Mutex;

use kubewright_runtime::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{error::ManagerError, probes::TaskState, runnable::Registered, tasks::Tasks};

/// The connection between the manager and the work of the elector.
#[derive(Default)]
pub(super) struct Leader {
    /// Ends the runnables gracefully.
    pub(super) stop: CancellationToken,
    /// Aborts the runnables.
    pub(super) abort: CancellationToken,
    /// The first error of a runnable.
    failure: Mutex<Option<ManagerError>>,
    has_failed: CancellationToken,
    running: TaskTracker,
    states: Mutex<Vec<Arc<TaskState>>>,
}

impl Leader {
    /// Runs the runnables until they are stopped or the leadership ends. Then holds the lease until the manager has
    /// stopped.
    pub(super) async fn lead(self: Arc<Self>, leading: CancellationToken, runnables: Vec<Registered>) {
        let running = self.running.token();
        // The manager may have been stopped while the lease was being acquired. It does not wait for this.
        if !self.stop.is_cancelled() {
            self.run(&leading, runnables).await;
        }
        drop(running);
        leading.cancelled().await;
    }

    async fn run(&self, leading: &CancellationToken, runnables: Vec<Registered>) {
        let (mut tasks, stop) = (Tasks::default(), leading.child_token());
        for runnable in runnables {
            self.states.lock().push(Arc::clone(&runnable.state));
            tasks.spawn_fenced(runnable, stop.clone(), self.running.token());
        }
        tokio::select! {
            biased;
            () = leading.cancelled() => {}
            () = self.stop.cancelled() => {}
            error = tasks.failure() => self.fail(error),
        }
        stop.cancel();
        self.end(tasks).await;
    }

    /// Waits until the stopped tasks have ended. Their errors do not hide why they were stopped, such as a lost lease.
    async fn end(&self, mut tasks: Tasks) {
        let mut is_aborted = false;
        loop {
            tokio::select! {
                biased;
                end = tasks.next() => match end {
                    Some(end) => end.after_stop().into_iter().for_each(|error| self.record(error)),
                    None => return,
                },
                () = self.abort.cancelled(), if !is_aborted => {
                    is_aborted = true;
                    tasks.abort_all();
                }
            }
        }
    }

    /// Waits until a runnable fails, and returns the error.
    pub(super) async fn failed(&self) -> ManagerError {
        self.has_failed.cancelled().await;
        match self.take_failure() {
            Some(error) => error,
            // It was taken before.
            None => pending().await,
        }
    }

    pub(super) fn take_failure(&self) -> Option<ManagerError> {
        self.failure.lock().take()
    }

    /// Waits until no runnable is running, and none can start.
    pub(super) async fn ended(&self) {
        self.running.close();
        self.running.wait().await;
    }

    /// Returns the names of the runnables that are running.
    pub(super) fn names(&self) -> Vec<String> {
        let states = self.states.lock();
        states.iter().filter(|state| state.is_running()).map(|state| state.name.clone()).collect()
    }

    /// Stops the manager with this error.
    fn fail(&self, error: ManagerError) {
        self.record(error);
        self.has_failed.cancel();
    }

    /// Stores the first error, and logs others.
    fn record(&self, error: ManagerError) {
        let mut failure = self.failure.lock();
        match &*failure {
            Some(_) => tracing::error!(%error, "a further error of the leader"),
            None => *failure = Some(error),
        }
    }
}
