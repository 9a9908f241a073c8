//! The keys that wait for a worker: by priority, in turn within one, and none for ever.

use tokio::time::Instant;

use super::entries::{Chain, Entries};
use crate::workqueue::config::Ageing;

/// The keys of one priority.
struct Level {
    priority: i32,
    chain: Chain,
    /// Since when others are taken before it.
    passed_since: Option<Instant>,
    /// Which delivery was its last.
    served: u64,
}

/// Waiting keys. There is a level for each priority that some key has, ascending.
pub(super) struct Ready {
    levels: Vec<Level>,
    len: usize,
    ageing: Option<Ageing>,
    /// Counts deliveries.
    served: u64,
    /// Deliveries since one went to a level that had waited too long.
    since_turn: u32,
}

impl Ready {
    pub(super) fn new(ageing: Option<Ageing>) -> Self {
        Ready { levels: Vec::new(), len: 0, ageing, served: 0, since_turn: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Whether the time matters to who is next: only where some keys pass others.
    pub(super) fn watches_clock(&self) -> bool {
        self.levels.len() > 1 && self.ageing.is_some()
    }

    pub(super) fn push<K: Eq>(&mut self, entries: &mut Entries<K>, number: usize) {
        let priority = entries[number].priority;
        let index = match self.levels.binary_search_by_key(&priority, |level| level.priority) {
            Ok(index) => index,
            Err(index) => {
                let level = Level { priority, chain: Chain::default(), passed_since: None, served: self.served };
                self.levels.insert(index, level);
                index
            }
        };
        self.levels[index].chain.push(entries, number);
        self.len += 1;
    }

    /// Takes a waiting key away, by the priority it waits with.
    pub(super) fn remove<K: Eq>(&mut self, entries: &mut Entries<K>, number: usize) {
        let priority = entries[number].priority;
        if let Ok(index) = self.levels.binary_search_by_key(&priority, |level| level.priority) {
            self.take(entries, index, number);
        }
    }

    /// The next key: of the highest priority, or, in its turn, of one that waited too long.
    pub(super) fn pop<K: Eq>(&mut self, entries: &mut Entries<K>, now: Instant) -> Option<usize> {
        let top = self.levels.len().checked_sub(1)?;
        let index = if top == 0 { 0 } else { self.turn(now).unwrap_or(top) };
        let number = self.levels[index].chain.first()?;
        self.served += 1;
        self.levels[index].served = self.served;
        self.take(entries, index, number);
        Some(number)
    }

    fn take<K: Eq>(&mut self, entries: &mut Entries<K>, index: usize, number: usize) {
        let level = &mut self.levels[index];
        level.chain.remove(entries, number);
        if level.chain.first().is_none() {
            self.levels.remove(index);
        }
        self.len -= 1;
    }

    /// The level, other than the highest, whose turn it is: of those passed for long the one served longest ago.
    fn turn(&mut self, now: Instant) -> Option<usize> {
        let Ageing { max_wait, share } = self.ageing?;
        let (_, lower) = self.levels.split_last_mut()?;
        let overdue = lower.iter_mut().enumerate().filter_map(|(index, level)| {
            let since = *level.passed_since.get_or_insert(now);
            (now.saturating_duration_since(since) >= max_wait).then_some((level.served, index))
        });
        let Some((_, index)) = overdue.min() else {
            self.since_turn = 0;
            return None;
        };
        self.since_turn += 1;
        (self.since_turn >= share.get()).then(|| {
            self.since_turn = 0;
            index
        })
    }
}
