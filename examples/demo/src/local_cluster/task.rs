//! A task with a stop signal.

use kubewright_runtime::CancellationToken;
use tokio::task::JoinError;
use tokio_util::task::AbortOnDropHandle;

/// A task with a stop signal. It is aborted on drop.
pub(super) struct Task<T> {
    stop: CancellationToken,
    handle: AbortOnDropHandle<T>,
}

impl<T: Send + 'static> Task<T> {
    pub(super) fn spawn<F>(run: impl FnOnce(CancellationToken) -> F) -> Self
    where
        F: Future<Output = T> + Send + 'static,
    {
        let stop = CancellationToken::new();
        let handle = AbortOnDropHandle::new(tokio::spawn(run(stop.clone())));
        Task { stop, handle }
    }

    /// Stops the task, and waits for its result.
    pub(super) async fn stop(self) -> Result<T, JoinError> {
        self.stop.cancel();
        self.handle.await
    }

    /// Aborts the task, and waits until it has ended.
    pub(super) async fn kill(self) {
        self.handle.abort();
        drop(self.handle.await);
    }
}
