//! The ready keys: ordered by priority, first in first out within a priority, with ageing against starvation.

use tokio::time::Instant;

use super::entries::{Entries, Fifo};
use crate::workqueue::config::Ageing;

/// The ready keys of one priority.
struct Level {
    priority: i32,
    keys: Fifo,
    /// Since when keys of higher priority have been handed out before this level.
    starved_since: Option<Instant>,
    /// The number of the last delivery from this level.
    last_served: u64,
}

/// The ready keys. There is one level for each priority in use, in ascending order.
pub(super) struct Ready {
    levels: Vec<Level>,
    len: usize,
    ageing: Option<Ageing>,
    /// The number of deliveries.
    deliveries: u64,
    /// Deliveries since the last one from a starved level.
    since_aged: u32,
}

impl Ready {
    pub(super) fn new(ageing: Option<Ageing>) -> Self {
        Ready { levels: Vec::new(), len: 0, ageing, deliveries: 0, since_aged: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the next key depends on the time: only if there are several priorities.
    pub(super) fn needs_clock(&self) -> bool {
        self.levels.len() > 1 && self.ageing.is_some()
    }

    pub(super) fn push<K: Eq>(&mut self, entries: &mut Entries<K>, slot: usize) {
        let priority = entries[slot].priority;
        let index = match self.levels.binary_search_by_key(&priority, |level| level.priority) {
            Ok(index) => index,
            Err(index) => {
                let level =
                    Level { priority, keys: Fifo::default(), starved_since: None, last_served: self.deliveries };
                self.levels.insert(index, level);
                index
            }
        };
        self.levels[index].keys.push(entries, slot);
        self.len += 1;
    }

    /// Removes a ready key, found by its priority.
    pub(super) fn remove<K: Eq>(&mut self, entries: &mut Entries<K>, slot: usize) {
        let priority = entries[slot].priority;
        if let Ok(index) = self.levels.binary_search_by_key(&priority, |level| level.priority) {
            self.take(entries, index, slot);
        }
    }

    /// Removes the next key: of the highest priority or, if it is its turn, of a starved level.
    pub(super) fn pop<K: Eq>(&mut self, entries: &mut Entries<K>, now: Instant) -> Option<usize> {
        let top = self.levels.len().checked_sub(1)?;
        let index = if top == 0 { 0 } else { self.aged_level(now).unwrap_or(top) };
        let slot = self.levels[index].keys.first()?;
        self.deliveries += 1;
        self.levels[index].last_served = self.deliveries;
        self.take(entries, index, slot);
        Some(slot)
    }

    fn take<K: Eq>(&mut self, entries: &mut Entries<K>, index: usize, slot: usize) {
        let level = &mut self.levels[index];
        level.keys.remove(entries, slot);
        if level.keys.first().is_none() {
            self.levels.remove(index);
        }
        self.len -= 1;
    }

    /// Returns the starved level whose turn it is: the one served longest ago.
    fn aged_level(&mut self, now: Instant) -> Option<usize> {
        let Ageing { max_wait, share } = self.ageing?;
        let (_, lower) = self.levels.split_last_mut()?;
        let overdue = lower.iter_mut().enumerate().filter_map(|(index, level)| {
            let since = *level.starved_since.get_or_insert(now);
            (now.saturating_duration_since(since) >= max_wait).then_some((level.last_served, index))
        });
        let Some((_, index)) = overdue.min() else {
            self.since_aged = 0;
            return None;
        };
        self.since_aged += 1;
        (self.since_aged >= share.get()).then(|| {
            self.since_aged = 0;
            index
        })
    }
}
