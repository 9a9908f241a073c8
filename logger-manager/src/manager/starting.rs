//! The start of a stage: which of its runnables have not started, and why.

use std::sync::Arc;

use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};

use super::{
    error::{BoxError, ManagerError},
    probes::{CheckFn, TaskState},
    runnable::Registered,
};

/// A runnable that has started, or could not.
type Started = (Arc<TaskState>, Result<(), BoxError>);

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
        self.started.push(started.map(|result| (state, result)).boxed());
    }

    /// Waits until all have started. The future can be dropped and created again.
    pub(super) async fn complete(&mut self) -> Result<(), ManagerError> {
        while let Some((state, result)) = self.started.next().await {
            self.pending.retain(|(pending, _)| !Arc::ptr_eq(pending, &state));
            result.map_err(|error| ManagerError::Failed { name: state.name.clone(), error })?;
        }
        Ok(())
    }

    /// Returns the names of those that have not started, with the reasons.
    pub(super) fn reasons(&self) -> Vec<String> {
        let reason = |(state, ready): &(Arc<TaskState>, Option<Arc<CheckFn>>)| {
            let reason = ready.as_ref().and_then(|ready| state.check_ready(ready.as_ref()).err());
            match reason {
                Some(reason) => format!("`{}`: {reason}", state.name),
                None => format!("`{}`", state.name),
            }
        };
        self.pending.iter().map(reason).collect()
    }
}
