//! What other threads see of the journal.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

/// The result of the last fsync.
#[derive(Debug, Default)]
pub(super) struct Status(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last_fsync: Option<Instant>,
    last_error: Option<String>,
}

impl Status {
    pub(super) fn last_fsync(&self) -> Option<Instant> {
        self.state().last_fsync
    }

    pub(super) fn last_error(&self) -> Option<String> {
        self.state().last_error.clone()
    }

    pub(super) fn succeed(&self, now: Instant) {
        *self.state() = State { last_fsync: Some(now), last_error: None };
    }

    pub(super) fn fail(&self, error: String) {
        self.state().last_error = Some(error);
    }

    /// Ignores poisoning: no panic can leave the state inconsistent.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
