//! The runnables of `logger-runtime`: controllers, informer factories and event workers.

use std::time::Duration;

use logger_runtime::{CancellationToken, Controller, InformerFactory, events::EventWorker};

use super::{
    error::BoxError,
    probes::Probes,
    runnable::{Runnable, Stage},
};

/// How long a reconciliation can run past its timeout before the process is not live. A cancelled one ends at once, so
/// this only needs to cover a busy runtime.
const RECONCILE_TOLERANCE: Duration = Duration::from_secs(10);

/// Live while no reconciliation is stuck past its timeout. Ready if the watched informers are synced.
impl Runnable for Controller {
    async fn run(self, stop: CancellationToken) -> Result<(), BoxError> {
        Ok(Controller::run(self, stop).await?)
    }

    fn probes(&self) -> Probes {
        let (live, ready) = (self.status(), self.status());
        Probes::default()
            .live(move || live.check(RECONCILE_TOLERANCE))
            .ready(move || all_synced(&ready.why_not_synced()))
    }
}

/// Live while no watch is silent for longer than its timeout and the interval of bookmarks. Ready if all requested
/// informers are synced, and started at the same time.
impl Runnable for InformerFactory {
    async fn run(self, stop: CancellationToken) -> Result<(), BoxError> {
        Ok(InformerFactory::run(&self, stop).await?)
    }

    fn stage(&self) -> Stage {
        Stage::Caches
    }

    fn probes(&self) -> Probes {
        let (live, ready, started) = (self.clone(), self.clone(), self.clone());
        Probes::default()
            .live(move || live.check_watches())
            .ready(move || all_synced(&ready.why_not_synced()))
            .started(async move { started.wait_for_sync(Duration::MAX).await })
    }
}

/// Starts before controllers and ends after them, so that their last events are written.
impl Runnable for EventWorker {
    async fn run(self, stop: CancellationToken) -> Result<(), BoxError> {
        Ok(EventWorker::run(self, stop).await?)
    }

    fn stage(&self) -> Stage {
        Stage::Caches
    }
}

fn all_synced(reasons: &[String]) -> Result<(), String> {
    match reasons {
        [] => Ok(()),
        reasons => Err(format!("not synced: {}", reasons.join("; "))),
    }
}
