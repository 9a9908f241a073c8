//! Tasks that wait for the queue to change.

use std::task::Waker;

/// Identifies one wait.
pub(super) type WaiterId = u64;

/// The wakers of waiting tasks, in the order of registration.
#[derive(Default)]
pub(super) struct Waiters {
    /// In ascending order of the id.
    wakers: Vec<(WaiterId, Waker)>,
    last_id: WaiterId,
}

impl Waiters {
    pub(super) fn is_empty(&self) -> bool {
        self.wakers.is_empty()
    }

    pub(super) fn push(&mut self, waker: Waker) -> WaiterId {
        self.last_id += 1;
        self.wakers.push((self.last_id, waker));
        self.last_id
    }

    /// Removes a waiter; `None` if it was already removed.
    pub(super) fn remove(&mut self, id: WaiterId) -> Option<Waker> {
        let index = self.wakers.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(self.wakers.remove(index).1)
    }

    /// Removes the latest waiter, whose memory is most likely cached. The `spared` one is removed only if there is no
    /// other.
    pub(super) fn pop(&mut self, spared: Option<WaiterId>) -> Option<Waker> {
        let last = self.wakers.len().checked_sub(1)?;
        let is_spared = last > 0 && Some(self.wakers[last].0) == spared;
        Some(self.wakers.remove(last - usize::from(is_spared)).1)
    }

    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Waker> {
        self.wakers.drain(..).map(|(_, waker)| waker)
    }
}
