//! What other threads see of the journal.

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

/// The result of the last fsync, and what needs attention although records become durable.
#[derive(Debug, Default)]
pub(super) struct Status {
    state: Mutex<State>,
    is_used: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    last_fsync: Option<Instant>,
    last_error: Option<String>,
    corrupt_segment: Option<String>,
    clock_step: Option<(Instant, String)>,
}

impl Status {
    pub(super) fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Relaxed)
    }

    pub(super) fn set_used(&self) {
        self.is_used.store(true, Ordering::Relaxed);
    }

    pub(super) fn last_fsync(&self) -> Option<Instant> {
        self.state().last_fsync
    }

    pub(super) fn last_error(&self) -> Option<String> {
        self.state().last_error.clone()
    }

    pub(super) fn succeed(&self, now: Instant) {
        let mut state = self.state();
        state.last_fsync = Some(now);
        state.last_error = None;
    }

    pub(super) fn fail(&self, error: String) {
        self.state().last_error = Some(error);
    }

    pub(super) fn corrupt_segment(&self) -> Option<String> {
        self.state().corrupt_segment.clone()
    }

    pub(super) fn set_corrupt_segment(&self, description: Option<String>) {
        self.state().corrupt_segment = description;
    }

    pub(super) fn clock_step(&self) -> Option<(Instant, String)> {
        self.state().clock_step.clone()
    }

    pub(super) fn add_clock_step(&self, now: Instant, description: String) {
        self.state().clock_step = Some((now, description));
    }

    /// Ignores poisoning: no panic can leave the state inconsistent.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
