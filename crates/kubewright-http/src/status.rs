//! The status of a server: whether it accepts connections, and with a valid certificate.

use std::{fmt, io, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::time::Instant;

/// How long a server can have the maximum number of requests in progress before it is not ready: a peak is no failure.
const FULL_TOLERANCE: Duration = Duration::from_secs(10);

/// The status of a [`Server`](super::Server). Clones are handles to the same status.
#[derive(Clone, Default)]
pub struct Status(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    phase: Phase,
    certificate: Option<CertificateCheck>,
}

type CertificateCheck = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

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
pub(crate) struct StopGuard(Status);

impl Drop for StopGuard {
    fn drop(&mut self) {
        self.0.0.lock().phase = Phase::Stopped;
    }
}

/// The reason why a server accepts no connections.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StatusError {
    /// The server is not running.
    #[error("the server is not running")]
    NotRunning,
    /// For 10 s, there have been as many requests in progress as [allowed](crate::Limits::max_connections)
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

impl Status {
    /// Checks that the server accepts connections, and that its certificate is valid: the check of readiness.
    ///
    /// # Errors
    /// Fails with the reason.
    pub fn check(&self) -> Result<(), StatusError> {
        let state = self.0.lock();
        match &state.phase {
            Phase::NotStarted | Phase::Stopped => return Err(StatusError::NotRunning),
            Phase::Full(since) if since.elapsed() >= FULL_TOLERANCE => return Err(StatusError::Full(since.elapsed())),
            Phase::Failed(reason) => return Err(StatusError::NotAccepted(reason.clone())),
            Phase::Accepting | Phase::Full(_) => {}
        }
        let certificate = state.certificate.clone();
        drop(state);
        certificate.map_or(Ok(()), |check| check().map_err(StatusError::Certificate))
    }

    /// Sets the check of the certificate, which fails with the reason.
    pub fn set_certificate_check(&self, check: impl Fn() -> Result<(), String> + Send + Sync + 'static) {
        self.0.lock().certificate = Some(Arc::new(check));
    }

    pub(crate) fn set_accepting(&self) {
        self.0.lock().phase = Phase::Accepting;
    }

    /// Remains full since the first call.
    pub(crate) fn set_full(&self) {
        let mut state = self.0.lock();
        if !matches!(state.phase, Phase::Full(_)) {
            state.phase = Phase::Full(Instant::now());
        }
    }

    pub(crate) fn set_failed(&self, error: &io::Error) {
        self.0.lock().phase = Phase::Failed(error.to_string());
    }

    /// Returns a guard that marks the server as stopped when it is dropped.
    pub(crate) fn stop_on_drop(&self) -> StopGuard {
        StopGuard(self.clone())
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Status").field(&self.0.lock().phase).finish()
    }
}
