//! The lock and the clock of the queue's monitor. Tests replace this module.

use std::{
    hint::spin_loop,
    pin::Pin,
    sync::{PoisonError, TryLockError},
    time::Duration,
};

use tokio::time::Instant;

// Not `parking_lot`: it yields to other threads and hands the lock over, which the spinning avoids.
pub(super) use std::sync::{Mutex, MutexGuard};

/// How often a contended lock is tried before the thread blocks.
const SPIN_ATTEMPTS: u32 = 2;

/// How long a thread spins between attempts. Under contention the lock holder completes about a hundred steps in this
/// time with the data in the cache of one core, instead of alternating with this thread. It is short compared to a
/// thread switch.
const SPIN_DURATION: Duration = Duration::from_micros(20);

/// Locks a mutex that is never held for long. Ignores poisoning: only cloning or comparing a key can panic under the
/// lock.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    for _ in 0..SPIN_ATTEMPTS {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => spin(),
        }
    }
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn spin() {
    let start = std::time::Instant::now();
    while start.elapsed() < SPIN_DURATION {
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
