//! What the queue's shell takes from its surroundings: a lock, and time.

use std::pin::Pin;

pub(super) use std::sync::{Mutex, MutexGuard};

use tokio::time::Instant;

pub(super) type Sleep = Pin<Box<tokio::time::Sleep>>;

pub(super) fn now() -> Instant {
    Instant::now()
}

pub(super) fn sleep_until(at: Instant) -> Sleep {
    Box::pin(tokio::time::sleep_until(at))
}
