//! The start of a stage: which of its runnables have not started, and why.

use std::{
    future::pending,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
    time::Duration,
};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use kubewright_runtime::error::panic_message;
use tokio::time::{Instant, sleep_until};

use super::{
    error::{BoxError, ManagerError},
    probes::{CheckFn, ProgressFn, TaskState},
    runnable::Registered,
};

/// The end of the start of a runnable.
type Started = (Arc<TaskState>, thread::Result<Result<(), BoxError>>);

/// The runnables of a stage that have not started.
#[derive(Default)]
pub(super) struct Starting {
    started: FuturesUnordered<BoxFuture<'static, Started>>,
    pending: Vec<Pending>,
}

struct Pending {
    state: Arc<TaskState>,
    ready: Option<Arc<CheckFn>>,
    progress: Option<Box<ProgressFn>>,
}

impl Starting {
    pub(super) fn push(&mut self, runnable: &mut Registered) {
        let Some(started) = runnable.started.take() else { return };
        let state = Arc::clone(&runnable.state);
        let (ready, progress) = (runnable.ready.clone(), runnable.progress.take());
        self.pending.push(Pending { state: Arc::clone(&state), ready, progress });
        let started = AssertUnwindSafe(started).catch_unwind();
        self.started.push(started.map(|result| (state, result)).boxed());
    }

    /// Waits until all have started, or none has made progress for this time, which is `None`.
    pub(super) async fn complete_within(&mut self, limit: Duration) -> Option<Result<(), ManagerError>> {
        let mut last = Instant::now();
        loop {
            let deadline = last.checked_add(limit);
            let overdue = async {
                match deadline {
                    Some(deadline) => sleep_until(deadline).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                biased;
                completed = self.complete() => return Some(completed),
                () = overdue => {}
            }
            let progress = self.pending.iter().filter_map(|pending| pending.progress.as_ref()?());
            last = progress.max().filter(|progress| *progress > last)?;
        }
    }

    /// Waits until all have started. The future can be dropped and created again.
    async fn complete(&mut self) -> Result<(), ManagerError> {
        while let Some((state, result)) = self.started.next().await {
            self.pending.retain(|pending| !Arc::ptr_eq(&pending.state, &state));
            let name = state.name.clone();
            match result {
                Ok(started) => started.map_err(|error| ManagerError::Failed { name, error })?,
                Err(panic) => {
                    return Err(ManagerError::Panicked { name, message: panic_message(panic.as_ref()) });
                }
            }
        }
        Ok(())
    }

    /// Returns the names of those that have not started, with the reasons.
    pub(super) fn reasons(&self) -> Vec<String> {
        let reason = |Pending { state, ready, .. }: &Pending| {
            let reason = ready.as_ref().and_then(|ready| failure(state, ready.as_ref()));
            match reason {
                Some(reason) => format!("`{}`: {reason}", state.name),
                None => format!("`{}`", state.name),
            }
        };
        self.pending.iter().map(reason).collect()
    }
}

/// Returns why a readiness check fails; `None` if it succeeds.
fn failure(state: &TaskState, ready: &CheckFn) -> Option<String> {
    let result = catch_unwind(AssertUnwindSafe(|| state.check_ready(ready)));
    result.unwrap_or_else(|panic| Err(format!("the check panicked: {}", panic_message(panic.as_ref())))).err()
}
