//! The status of a server: whether it accepts connections, and with a valid certificate.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use crate::serving::certificates::{CertificateError, Certificates};

/// How long a server can have the maximum number of requests in progress before it is not ready: a peak is no failure.
const FULL_TOLERANCE: Duration = Duration::from_secs(10);

/// The status of a [`Server`](super::Server). Clones are handles to the same status.
#[derive(Clone, Debug, Default)]
pub struct ServerStatus(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    phase: Phase,
    certificates: Option<Certificates>,
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    NotStarted,
    Accepting,
    /// Since when a connection waits for the end of a request.
    Full(Instant),
    Failed(String),
    Stopped,
}

/// Marks a server as stopped on drop.
pub(super) struct StopGuard(ServerStatus);

impl Drop for StopGuard {
    fn drop(&mut self) {
        self.0.state().phase = Phase::Stopped;
    }
}

/// The reason why a server accepts no connections.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StatusError {
    /// The server is not running.
    #[error("the server is not running")]
    NotRunning,
    /// For 10 s, there have been as many requests in progress as [allowed](super::ServerConfig::max_connections)
    /// connections.
    #[error("the server has had the maximum number of requests in progress for {} s; further connections wait", .0.as_secs())]
    Full(Duration),
    /// The operating system does not accept connections, for example because too many files are open.
    #[error("connections cannot be accepted: {0}")]
    NotAccepted(String),
    /// The certificate is invalid.
    #[error("{0}")]
    Certificate(String),
}

impl ServerStatus {
    /// Checks that the server accepts connections, and that its certificate is valid: the check of readiness.
    ///
    /// # Errors
    /// Fails with the reason.
    pub fn check(&self) -> Result<(), StatusError> {
        let state = self.state();
        match &state.phase {
            Phase::NotStarted | Phase::Stopped => return Err(StatusError::NotRunning),
            Phase::Full(since) if since.elapsed() >= FULL_TOLERANCE => return Err(StatusError::Full(since.elapsed())),
            Phase::Failed(reason) => return Err(StatusError::NotAccepted(reason.clone())),
            Phase::Accepting | Phase::Full(_) => {}
        }
        let certificate = state.certificates.as_ref().map_or(Ok(()), Certificates::check);
        certificate.map_err(|error: CertificateError| StatusError::Certificate(error.to_string()))
    }

    pub(super) fn set_certificates(&self, certificates: Certificates) {
        self.state().certificates = Some(certificates);
    }

    pub(super) fn set_accepting(&self) {
        self.state().phase = Phase::Accepting;
    }

    pub(super) fn set_full(&self) {
        self.state().phase = Phase::Full(Instant::now());
    }

    pub(super) fn set_failed(&self, error: &io::Error) {
        self.state().phase = Phase::Failed(error.to_string());
    }

    /// Returns a guard that marks the server as stopped when it is dropped.
    pub(super) fn stop_on_drop(&self) -> StopGuard {
        StopGuard(self.clone())
    }

    /// Ignores poisoning: the state is consistent between any two statements.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
