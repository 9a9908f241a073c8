//! The guard of installed telemetry: it exports what remains when the process stops.

use std::fmt;

use futures::future::BoxFuture;
use kubewright_runtime::CancellationToken;

use super::TelemetryError;
use crate::manager::{BoxError, Runnable, Stage};

/// Exports the remaining traces when the process stops.
///
/// It is a runnable of the first stage: added to a manager, it stops last, after the spans of all others have ended. A
/// failure is then logged, and is no error of the manager. Without the export of traces, it does nothing. If it is
/// dropped, the remaining traces are lost.
#[derive(Default)]
#[must_use = "add it to the manager, or the last traces are lost"]
pub struct TelemetryGuard {
    /// Exports the remaining traces, if there is an export.
    flush: Option<BoxFuture<'static, Result<(), TelemetryError>>>,
}

impl TelemetryGuard {
    #[cfg(feature = "otlp")]
    pub(super) fn new(flush: impl Future<Output = Result<(), TelemetryError>> + Send + 'static) -> Self {
        TelemetryGuard { flush: Some(Box::pin(flush)) }
    }

    /// Exports the remaining traces, and ends the export.
    ///
    /// # Errors
    /// Fails if the collector does not accept them in time.
    pub async fn shutdown(self) -> Result<(), TelemetryError> {
        match self.flush {
            Some(flush) => flush.await,
            None => Ok(()),
        }
    }
}

impl Runnable for TelemetryGuard {
    async fn run(self, stop: CancellationToken) -> Result<(), BoxError> {
        stop.cancelled().await;
        if let Err(error) = self.shutdown().await {
            tracing::warn!(%error, "traces are lost");
        }
        Ok(())
    }

    fn stage(&self) -> Stage {
        Stage::Servers
    }
}

impl fmt::Debug for TelemetryGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TelemetryGuard").field("exports", &self.flush.is_some()).finish()
    }
}
