//! An informer that runs, and how it ends.

use std::sync::Arc;

use tokio_util::task::TaskTracker;

use super::hub::Hub;

/// An informer that runs. Dropped, it stops without waiting.
pub(super) struct Running {
    hub: Arc<Hub>,
    tasks: TaskTracker,
}

impl Running {
    pub(super) fn new(hub: Arc<Hub>, tasks: TaskTracker) -> Self {
        Running { hub, tasks }
    }

    /// Tells the listeners nothing more, and waits until each has returned from the call it is in.
    ///
    /// # Panics
    /// With what a handler panicked with that aborts the informer.
    pub(super) async fn stop(self) {
        self.hub.stop();
        self.tasks.close();
        self.tasks.wait().await;
        if let Some(panic) = self.hub.take_panic() {
            std::panic::resume_unwind(panic);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.hub.stop();
    }
}
