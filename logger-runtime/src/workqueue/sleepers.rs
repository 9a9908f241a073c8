//! Tasks that wait for the queue to change.

use std::task::Waker;

/// Tells one sleep from another.
pub(super) type Ticket = u64;

/// Those asleep, in the order they went.
#[derive(Default)]
pub(super) struct Sleepers {
    /// Tickets ascend.
    asleep: Vec<(Ticket, Waker)>,
    tickets: Ticket,
}

impl Sleepers {
    pub(super) fn is_empty(&self) -> bool {
        self.asleep.is_empty()
    }

    pub(super) fn push(&mut self, waker: Waker) -> Ticket {
        self.tickets += 1;
        self.asleep.push((self.tickets, waker));
        self.tickets
    }

    /// Takes one away; `None` if it is not asleep any more.
    pub(super) fn remove(&mut self, ticket: Ticket) -> Option<Waker> {
        let index = self.asleep.binary_search_by_key(&ticket, |(ticket, _)| *ticket).ok()?;
        Some(self.asleep.remove(index).1)
    }

    /// Takes the one that slept least, whose memory is the warmest; this one only if there is no other.
    pub(super) fn take_one(&mut self, but: Option<Ticket>) -> Option<Waker> {
        let last = self.asleep.len().checked_sub(1)?;
        let is_kept = last > 0 && Some(self.asleep[last].0) == but;
        Some(self.asleep.remove(last - usize::from(is_kept)).1)
    }

    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Waker> {
        self.asleep.drain(..).map(|(_, waker)| waker)
    }
}
