//! What the queue holds, without waiting or clocks: each key waits, is due later, or is at work.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::time::Duration;

use tokio::time::Instant;

/// A delay past this cannot be told apart from for ever, and would overflow the clock.
const LONGEST_DELAY: Duration = Duration::from_secs(365 * 24 * 3600);

/// Every step first moves what became due to where keys wait, as of `now`: so a key counts from when it is due, not from
/// when a worker next looks.
pub(super) struct State<K> {
    /// Keys to work on, in order; the same keys are in `waiting`.
    ready: VecDeque<K>,
    waiting: HashSet<K>,
    /// Keys at work; `true` if added again meanwhile.
    at_work: HashMap<K, bool>,
    /// Keys due later, by time and order of request; `due` finds them by key.
    delayed: BTreeMap<(Instant, u64), K>,
    due: HashMap<K, (Instant, u64)>,
    requests: u64,
    shut_down: bool,
}

impl<K> Default for State<K> {
    fn default() -> Self {
        State {
            ready: VecDeque::new(),
            waiting: HashSet::new(),
            at_work: HashMap::new(),
            delayed: BTreeMap::new(),
            due: HashMap::new(),
            requests: 0,
            shut_down: false,
        }
    }
}

impl<K: Clone + Eq + Hash> State<K> {
    pub(super) fn add(&mut self, key: K, now: Instant) {
        self.move_due(now);
        if self.shut_down {
            return;
        }
        if let Some(slot) = self.due.remove(&key) {
            self.delayed.remove(&slot);
        }
        self.enqueue(key);
    }

    pub(super) fn add_at(&mut self, key: K, now: Instant, delay: Duration) {
        if delay.is_zero() {
            return self.add(key, now);
        }
        self.move_due(now);
        let at = now + delay.min(LONGEST_DELAY);
        let is_earlier = self.due.get(&key).is_none_or(|(due, _)| at < *due);
        let comes_anyway = self.waiting.contains(&key) || self.at_work.get(&key) == Some(&true);
        if self.shut_down || comes_anyway || !is_earlier {
            return;
        }
        self.requests += 1;
        let slot = (at, self.requests);
        if let Some(later) = self.due.insert(key.clone(), slot) {
            self.delayed.remove(&later);
        }
        self.delayed.insert(slot, key);
    }

    /// The next key to work on.
    pub(super) fn pop(&mut self, now: Instant) -> Option<K> {
        self.move_due(now);
        let key = self.ready.pop_front()?;
        self.waiting.remove(&key);
        self.at_work.insert(key.clone(), false);
        Some(key)
    }

    pub(super) fn done(&mut self, key: &K, now: Instant) {
        self.move_due(now);
        if self.at_work.remove(key) == Some(true) {
            self.enqueue(key.clone());
        }
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.delayed.first_key_value().map(|((at, _), _)| *at)
    }

    pub(super) fn len(&mut self, now: Instant) -> usize {
        self.move_due(now);
        self.ready.len()
    }

    pub(super) fn shut_down(&mut self, now: Instant) {
        self.move_due(now);
        self.shut_down = true;
        self.delayed.clear();
        self.due.clear();
    }

    /// Shut down, with nothing left that a worker could get: no key waits, and none at work will come again.
    pub(super) fn is_over(&self) -> bool {
        self.shut_down && self.ready.is_empty() && !self.at_work.values().any(|again| *again)
    }

    fn move_due(&mut self, now: Instant) {
        while let Some(due) = self.delayed.first_entry().filter(|entry| entry.key().0 <= now) {
            let key = due.remove();
            self.due.remove(&key);
            self.enqueue(key);
        }
    }

    fn enqueue(&mut self, key: K) {
        match self.at_work.get_mut(&key) {
            Some(again) => *again = true,
            None if self.waiting.insert(key.clone()) => self.ready.push_back(key),
            None => {}
        }
    }
}
