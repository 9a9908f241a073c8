//! What the queue's shell takes from its surroundings: a lock, and time.

use std::hint::spin_loop;
use std::pin::Pin;
use std::sync::{PoisonError, TryLockError};

pub(super) use std::sync::{Mutex, MutexGuard};

use tokio::time::Instant;

/// How often a taken lock is tried again before the thread sleeps, each time after twice as long: some microseconds in all.
/// The lock is held for a fraction of one, so a worker gets it between two additions rather than sleep through many.
const TRIES: u32 = 8;

/// Takes a lock that is never held for long. What a panic left is whole: no step of the state can be left halfway.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    for pause in 0..TRIES {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => (0..1 << pause).for_each(|_: u32| spin_loop()),
        }
    }
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) type Sleep = Pin<Box<tokio::time::Sleep>>;

pub(super) fn now() -> Instant {
    Instant::now()
}

pub(super) fn sleep_until(at: Instant) -> Sleep {
    Box::pin(tokio::time::sleep_until(at))
}
