//! What the queue's shell takes from its surroundings: a lock, and time.

use std::hint::spin_loop;
use std::pin::Pin;
use std::sync::{PoisonError, TryLockError};
use std::time::Duration;

pub(super) use std::sync::{Mutex, MutexGuard};

use tokio::time::Instant;

/// How often a taken lock is tried again before the thread sleeps.
const TRIES: u32 = 2;

/// How long a thread leaves the queue to others: they do a hundred steps at the speed of one thread, while what they touch stays
/// in the cache of one processor, rather than one step in turn with this. Still short beside a thread's sleep.
const REST: Duration = Duration::from_micros(20);

/// Takes a lock that is never held for long. A panic below it is that of a key, cloned or compared: the queue goes on.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    for _ in 0..TRIES {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => rest(),
        }
    }
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Leaves the queue to others, and keeps the thread.
fn rest() {
    let start = std::time::Instant::now();
    while start.elapsed() < REST {
        spin_loop();
    }
}

pub(super) type Sleep = Pin<Box<tokio::time::Sleep>>;

pub(super) fn now() -> Instant {
    Instant::now()
}

pub(super) fn sleep_until(at: Instant) -> Sleep {
    Box::pin(tokio::time::sleep_until(at))
}
