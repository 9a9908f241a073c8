//! Supervised tasks: each end is reported with the name of the task.

use std::{collections::HashMap, future::pending, sync::Arc};

use kubewright_runtime::{CancellationToken, error::panic_message, leader_election::fenced};
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::{
    error::{BoxError, ManagerError},
    probes::TaskState,
    runnable::{Registered, Stage},
};

/// The position of a task in the order of starts and stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Stage(Stage),
    /// After all stages: the runnables of the leader.
    Leader,
}

/// The tasks of a manager. Dropping them aborts them.
#[derive(Default)]
pub(super) struct Tasks {
    set: JoinSet<Completion>,
    running: HashMap<Id, (Level, Arc<TaskState>)>,
}

/// How the future of a task completed.
enum Completion {
    Returned(Result<(), BoxError>),
    /// The leadership ended, so it is not polled anymore.
    Fenced,
}

/// A task that ended.
pub(super) struct TaskEnd {
    pub(super) level: Level,
    state: Arc<TaskState>,
    end: End,
}

enum End {
    Returned,
    Failed(BoxError),
    Panicked(String),
    Aborted,
}

impl Tasks {
    /// Runs a runnable on a dedicated task.
    pub(super) fn spawn(&mut self, level: Level, runnable: Registered, stop: CancellationToken) {
        let Registered { run, state, .. } = runnable;
        self.spawn_future(level, state, async move { Completion::Returned(run(stop).await) });
    }

    /// Runs a runnable of the leader: called by the work of the elector. It is never polled after the leadership. The
    /// token is dropped when the task has ended, whether it completed or was aborted.
    pub(super) fn spawn_fenced(&mut self, runnable: Registered, stop: CancellationToken, token: TaskTrackerToken) {
        let Registered { run, state, .. } = runnable;
        let run = fenced(async move { run(stop).await });
        self.spawn_future(Level::Leader, state, async move {
            let _token = token;
            run.await.map_or(Completion::Fenced, Completion::Returned)
        });
    }

    fn spawn_future(
        &mut self,
        level: Level,
        state: Arc<TaskState>,
        future: impl Future<Output = Completion> + Send + 'static,
    ) {
        state.set_running();
        let ended = EndedGuard(Arc::clone(&state));
        let task = self.set.spawn(async move {
            let _ended = ended;
            future.await
        });
        self.running.insert(task.id(), (level, state));
    }

    /// Waits until a task ends; `None` if there are no tasks.
    pub(super) async fn next(&mut self) -> Option<TaskEnd> {
        let (id, end) = match self.set.join_next_with_id().await? {
            Ok((id, Completion::Returned(Ok(())))) => (id, End::Returned),
            Ok((id, Completion::Returned(Err(error)))) => (id, End::Failed(error)),
            Ok((id, Completion::Fenced)) => (id, End::Aborted),
            Err(error) => (error.id(), panic_of(error).map_or(End::Aborted, End::Panicked)),
        };
        let (level, state) = self.running.remove(&id).expect("every task is recorded when it is spawned");
        Some(TaskEnd { level, state, end })
    }

    /// Waits until a task ends although it was not stopped, and returns the error. Waits forever without tasks.
    pub(super) async fn failure(&mut self) -> ManagerError {
        loop {
            match self.next().await {
                Some(end) => {
                    if let Some(error) = end.unexpected() {
                        return error;
                    }
                }
                None => pending().await,
            }
        }
    }

    pub(super) fn has(&self, level: Level) -> bool {
        self.running.values().any(|(running, _)| *running == level)
    }

    /// Returns the names of the tasks that have not ended.
    pub(super) fn names(&self) -> Vec<String> {
        self.running.values().map(|(_, state)| state.name.clone()).collect()
    }

    pub(super) fn abort_all(&mut self) {
        self.set.abort_all();
    }
}

impl TaskEnd {
    /// Returns the error of a task that was not stopped, and records it for the liveness check. `None` if the task was
    /// cancelled.
    pub(super) fn unexpected(self) -> Option<ManagerError> {
        let name = self.state.name.clone();
        let error = match self.end {
            End::Returned => ManagerError::Ended { name },
            End::Failed(error) => ManagerError::Failed { name, error },
            End::Panicked(message) => ManagerError::Panicked { name, message },
            End::Aborted => return None,
        };
        self.state.fail(error.to_string());
        Some(error)
    }

    /// Returns the error of a task that was stopped.
    pub(super) fn after_stop(self) -> Option<ManagerError> {
        match self.end {
            End::Returned => None,
            _ => self.unexpected(),
        }
    }
}

/// Returns the message of the panic of a task; `None` if the task was aborted.
pub(super) fn panic_of(error: JoinError) -> Option<String> {
    error.try_into_panic().ok().map(|panic| panic_message(panic.as_ref()))
}

/// Marks a task as ended when its future was dropped.
struct EndedGuard(Arc<TaskState>);

impl Drop for EndedGuard {
    fn drop(&mut self) {
        self.0.set_ended();
    }
}
