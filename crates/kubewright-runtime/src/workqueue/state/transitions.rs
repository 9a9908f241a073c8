//! The transitions of a key between its phases.

use std::sync::atomic::Ordering;

use tokio::time::Instant;

use super::{
    QueueMetrics, Request, State,
    entries::{Hashed, Phase},
};

impl<K: Clone + Eq> State<K> {
    pub(super) fn insert(&mut self, key: Hashed<K>, priority: i32, now: Instant) -> usize {
        let slot = self.entries.insert(key, now);
        let entry = &mut self.entries[slot];
        (entry.phase, entry.priority) = (Phase::Delayed, priority);
        slot
    }

    pub(super) fn remove(&mut self, slot: usize) -> K {
        let entry = self.entries.remove(slot);
        if entry.backoff_until.is_some() {
            self.backoffs.fetch_sub(1, Ordering::Relaxed);
        }
        entry.key
    }

    /// Raises the priority of a key. A ready key moves to the tail of its new level.
    pub(super) fn raise_priority(&mut self, slot: usize, priority: i32) {
        let entry = &mut self.entries[slot];
        if !entry.is_requested() {
            entry.priority = priority;
        } else if priority > entry.priority {
            let is_ready = entry.phase == Phase::Ready;
            if is_ready {
                self.ready.remove(&mut self.entries, slot);
            }
            self.entries[slot].priority = priority;
            if is_ready {
                self.ready.push(&mut self.entries, slot);
            }
        }
    }

    pub(super) fn delay(&mut self, slot: usize, at: Instant) {
        let entry = &mut self.entries[slot];
        if entry.phase == Phase::Ready || entry.requeue || entry.due.is_some_and(|(due, _)| due <= at) {
            return;
        }
        self.requests += 1;
        if let Some(later) = entry.due.replace((at, self.requests)) {
            self.delayed.remove(&later);
        }
        self.delayed.insert((at, self.requests), slot);
    }

    /// Makes a key ready, now or when its processing is done, and cancels its delay.
    pub(super) fn make_ready(&mut self, slot: usize, now: Instant) {
        let entry = &mut self.entries[slot];
        if let Some(due) = entry.due.take() {
            self.delayed.remove(&due);
        }
        if entry.phase == Phase::Ready || entry.requeue {
            return;
        }
        entry.accepted = now;
        match entry.phase {
            Phase::Processing => {
                entry.requeue = true;
                self.requeues += 1;
            }
            _ => self.enqueue(slot),
        }
        self.record(QueueMetrics::add);
    }

    pub(super) fn enqueue(&mut self, slot: usize) {
        self.entries[slot].phase = Phase::Ready;
        self.ready.push(&mut self.entries, slot);
    }

    /// Makes the delayed keys ready that are due.
    pub(super) fn promote_due(&mut self, now: Instant) {
        while let Some(due) = self.delayed.first_entry().filter(|entry| entry.key().0 <= now) {
            let ((at, _), slot) = due.remove_entry();
            self.entries[slot].due = None;
            self.make_ready(slot, at);
        }
    }

    /// Reports the key as dropped if this is a retry after the shutdown, which leaves its failure unresolved.
    pub(super) fn reject(&mut self, key: &Hashed<K>, request: Request) {
        let Some(slot) = self.entries.find(key.hash, &key.key).filter(|_| request.is_retry) else { return };
        let entry = &mut self.entries[slot];
        if entry.phase == Phase::Processing && !entry.requeue && !std::mem::replace(&mut entry.retry_rejected, true) {
            self.dropped.push(entry.key.clone());
        }
    }

    pub(super) fn record(&mut self, update: impl FnOnce(&mut QueueMetrics)) {
        if let Some(metrics) = &mut self.metrics {
            update(metrics);
        }
    }
}
