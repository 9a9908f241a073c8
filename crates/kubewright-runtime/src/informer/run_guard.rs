//! Stops a running informer.

use std::sync::Arc;

use tokio_util::task::TaskTracker;

use super::shared_processor::SharedProcessor;

/// A running informer. Dropping it stops the informer without waiting for its handlers.
pub(super) struct RunGuard {
    processor: Arc<SharedProcessor>,
    tasks: TaskTracker,
}

impl RunGuard {
    pub(super) fn new(processor: Arc<SharedProcessor>, tasks: TaskTracker) -> Self {
        RunGuard { processor, tasks }
    }

    /// Stops the informer and waits until every handler has returned from its current call.
    pub(super) async fn stop(self) {
        self.processor.stop();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        self.processor.stop();
    }
}
