//! The start of a stage: which of its runnables have not started, and why.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use kubewright_runtime::error::panic_message;

use super::{
    error::{BoxError, ManagerError},
    probes::{CheckFn, TaskState},
    runnable::Registered,
};

/// The end of the start of a runnable.
type Started = (Arc<TaskState>, thread::Result<Result<(), BoxError>>);

/// The runnables of a stage that have not started.
#[derive(Default)]
pub(super) struct Starting {
    started: FuturesUnordered<BoxFuture<'static, Started>>,
    pending: Vec<(Arc<TaskState>, Option<Arc<CheckFn>>)>,
}

impl Starting {
    pub(super) fn push(&mut self, runnable: &mut Registered) {
        let Some(started) = runnable.started.take() else { return };
        let state = Arc::clone(&runnable.state);
        self.pending.push((Arc::clone(&state), runnable.ready.clone()));
        let started = AssertUnwindSafe(started).catch_unwind();
        self.started.push(started.map(|result| (state, result)).boxed());
    }

    /// Waits until all have started. The future can be dropped and created again.
    pub(super) async fn complete(&mut self) -> Result<(), ManagerError> {
        while let Some((state, result)) = self.started.next().await {
            self.pending.retain(|(pending, _)| !Arc::ptr_eq(pending, &state));
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
        let reason = |(state, ready): &(Arc<TaskState>, Option<Arc<CheckFn>>)| {
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
