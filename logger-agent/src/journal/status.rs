//! What other threads see of the journal.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

use parking_lot::Mutex;

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
        self.state.lock().last_fsync
    }

    pub(super) fn last_error(&self) -> Option<String> {
        self.state.lock().last_error.clone()
    }

    pub(super) fn succeed(&self, now: Instant) {
        let mut state = self.state.lock();
        state.last_fsync = Some(now);
        state.last_error = None;
    }

    pub(super) fn fail(&self, error: String) {
        self.state.lock().last_error = Some(error);
    }

    pub(super) fn corrupt_segment(&self) -> Option<String> {
        self.state.lock().corrupt_segment.clone()
    }

    pub(super) fn set_corrupt_segment(&self, description: Option<String>) {
        self.state.lock().corrupt_segment = description;
    }

    pub(super) fn clock_step(&self) -> Option<(Instant, String)> {
        self.state.lock().clock_step.clone()
    }

    pub(super) fn add_clock_step(&self, now: Instant, description: String) {
        self.state.lock().clock_step = Some((now, description));
    }
}
