//! Starts an informer, and stops it again.

use std::sync::Arc;

use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{metrics::MetricsConfig, shared_processor::SharedProcessor};

/// A running informer. Dropping it stops the informer without waiting for its handlers.
pub(super) struct RunGuard {
    processor: Arc<SharedProcessor>,
    tasks: TaskTracker,
}

impl RunGuard {
    /// Starts the informer. Cancels `cancelled` if a handler aborts it. Returns `None` if it was started before.
    pub(super) fn start(
        processor: &Arc<SharedProcessor>,
        name: String,
        cancelled: CancellationToken,
        metrics: Option<MetricsConfig>,
    ) -> Option<Self> {
        let tasks = processor.start(name, cancelled, metrics)?;
        Some(RunGuard { processor: Arc::clone(processor), tasks })
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
