//! The status of a server: whether it accepts connections, and with a valid certificate.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::serving::certificates::{CertificateError, Certificates};

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
    Full,
    Failed(String),
    Stopped,
}

/// The reason why a server accepts no connections.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StatusError {
    /// The server is not running.
    #[error("the server is not running")]
    NotRunning,
    /// There are as many connections as [allowed](super::ServerConfig::max_connections).
    #[error("the server has the maximum number of connections; further ones wait")]
    Full,
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
            Phase::Full => return Err(StatusError::Full),
            Phase::Failed(reason) => return Err(StatusError::NotAccepted(reason.clone())),
            Phase::Accepting => {}
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
        self.state().phase = Phase::Full;
    }

    pub(super) fn set_failed(&self, error: &io::Error) {
        self.state().phase = Phase::Failed(error.to_string());
    }

    pub(super) fn set_stopped(&self) {
        self.state().phase = Phase::Stopped;
    }

    /// Ignores poisoning: the state is consistent between any two statements.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
