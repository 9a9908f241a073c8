//! How one key moves between its places.

use std::sync::atomic::Ordering;

use tokio::time::Instant;

use super::entries::{Hashed, Place};
use super::{Meter, Request, State};

impl<K: Clone + Eq> State<K> {
    pub(super) fn insert(&mut self, key: Hashed<K>, priority: i32, now: Instant) -> usize {
        let number = self.entries.insert(key, now);
        let entry = &mut self.entries[number];
        (entry.place, entry.priority) = (Place::Delayed, priority);
        number
    }

    pub(super) fn remove(&mut self, number: usize) -> K {
        let entry = self.entries.remove(number);
        if entry.retry_at.is_some() {
            self.backing_off.fetch_sub(1, Ordering::Relaxed);
        }
        entry.key
    }

    /// Of several priorities the highest counts. A key that waits goes to the end of its new level.
    pub(super) fn raise(&mut self, number: usize, priority: i32) {
        let entry = &mut self.entries[number];
        if !entry.is_asked_for() {
            entry.priority = priority;
        } else if priority > entry.priority {
            let waits = entry.place == Place::Ready;
            if waits {
                self.ready.remove(&mut self.entries, number);
            }
            self.entries[number].priority = priority;
            if waits {
                self.ready.push(&mut self.entries, number);
            }
        }
    }

    pub(super) fn delay(&mut self, number: usize, at: Instant) {
        let entry = &mut self.entries[number];
        if entry.place == Place::Ready || entry.again || entry.due.is_some_and(|(due, _)| due <= at) {
            return;
        }
        self.requests += 1;
        if let Some(later) = entry.due.replace((at, self.requests)) {
            self.delayed.remove(&later);
        }
        self.delayed.insert((at, self.requests), number);
    }

    /// Makes a key wait, now or once its work is done. It is due no more.
    pub(super) fn make_ready(&mut self, number: usize, now: Instant) {
        let entry = &mut self.entries[number];
        if let Some(due) = entry.due.take() {
            self.delayed.remove(&due);
        }
        if entry.place == Place::Ready || entry.again {
            return;
        }
        entry.accepted = now;
        match entry.place {
            Place::AtWork => {
                entry.again = true;
                self.again += 1;
            }
            _ => self.wait(number),
        }
        self.measure(Meter::accepted);
    }

    pub(super) fn wait(&mut self, number: usize) {
        self.entries[number].place = Place::Ready;
        self.ready.push(&mut self.entries, number);
    }

    pub(super) fn move_due(&mut self, now: Instant) {
        while let Some(due) = self.delayed.first_entry().filter(|entry| entry.key().0 <= now) {
            let ((at, _), number) = due.remove_entry();
            self.entries[number].due = None;
            self.make_ready(number, at);
        }
    }

    /// Notes a retry that comes too late: the work on that key stays undone.
    pub(super) fn refuse(&mut self, key: &Hashed<K>, request: Request) {
        let Some(number) = self.entries.find(key.hash, &key.key).filter(|_| request.is_retry) else { return };
        let entry = &mut self.entries[number];
        if entry.place == Place::AtWork && !entry.again && !std::mem::replace(&mut entry.refused, true) {
            self.dropped.push(entry.key.clone());
        }
    }

    pub(super) fn measure(&mut self, note: impl FnOnce(&mut Meter)) {
        if let Some(meter) = &mut self.meter {
            note(meter);
        }
    }
}
