//! What the queue holds, without waiting or clocks: each key waits, is due later, or is at work.

mod entries;
mod moves;
mod ready;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::time::Instant;

pub(super) use entries::Hashed;
use entries::{Chain, Due, Entries, Place};
use ready::Ready;

use super::config::{Ageing, Delayed, Refused};
use super::meter::Meter;

/// Every step first moves what became due to where keys wait, as of `now`: so a key counts from when it is due, not from
/// when a worker next looks.
pub(super) struct State<K> {
    entries: Entries<K>,
    ready: Ready,
    /// Keys due later, by time and order of request.
    delayed: BTreeMap<Due, usize>,
    requests: u64,
    /// In the order their work began.
    at_work: Chain,
    /// How many of those at work come again.
    again: usize,
    /// How many keys are in a back-off. Read without a lock by those who only want to know whether there is one.
    backing_off: Arc<AtomicUsize>,
    shut_down: bool,
    dropped: Vec<K>,
    meter: Option<Meter>,
}

/// A delivery that is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// `None` for now.
    pub(super) at: Option<Instant>,
    pub(super) priority: i32,
    /// Whether it was asked for with a delay, or after a failure: what client-go counts as retries.
    pub(super) is_retry: bool,
}

/// A key given to a worker.
#[derive(Debug)]
pub(super) struct Taken<K> {
    pub(super) number: usize,
    pub(super) key: K,
    pub(super) priority: i32,
}

impl<K: Clone + Eq> State<K> {
    pub(super) fn new(ageing: Option<Ageing>, meter: Option<Meter>) -> Self {
        State {
            entries: Entries::default(),
            ready: Ready::new(ageing),
            delayed: BTreeMap::new(),
            requests: 0,
            at_work: Chain::default(),
            again: 0,
            backing_off: Arc::default(),
            shut_down: false,
            dropped: Vec::new(),
            meter,
        }
    }

    /// Whether the next step depends on the time it is given.
    pub(super) fn watches_clock(&self) -> bool {
        !self.delayed.is_empty() || self.ready.watches_clock() || self.meter.is_some()
    }

    /// Asks for a delivery. Of several requests for one key the earliest counts, with the highest priority of all. A key that
    /// is there already comes back, for the caller to drop without a lock.
    pub(super) fn add(&mut self, key: Hashed<K>, request: Request, now: Instant) -> Option<K> {
        self.move_due(now);
        if self.shut_down {
            self.refuse(&key, request);
            return Some(key.key);
        }
        let (number, spare) = match self.entries.find(key.hash, &key.key) {
            Some(number) => {
                self.raise(number, request.priority);
                (number, Some(key.key))
            }
            None => (self.insert(key, request.priority, now), None),
        };
        match request.at.filter(|at| *at > now) {
            Some(at) => self.delay(number, at),
            None => self.make_ready(number, now),
        }
        if request.is_retry {
            self.measure(|meter| meter.retried());
        }
        spare
    }

    /// As [`add`](Self::add), for a key that failed, and opens the window until its retry, in which failures do not count.
    pub(super) fn back_off(&mut self, key: Hashed<K>, until: Instant, request: Request, now: Instant) {
        let (hash, copy) = (key.hash, key.key.clone());
        drop(self.add(key, request, now));
        if let Some(number) = self.entries.find(hash, &copy)
            && self.entries[number].retry_at.replace(until).is_none()
        {
            self.backing_off.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The end of the window, if a failure of this key, at work now, does not count: one that did is not over yet.
    pub(super) fn uncounted_until(&self, hash: u64, key: &K, now: Instant) -> Option<Instant> {
        let entry = &self.entries[self.entries.find(hash, key)?];
        entry.retry_at.filter(|until| entry.place == Place::AtWork && *until > now)
    }

    /// Ends the back-off of a key: its next failure counts.
    pub(super) fn forget(&mut self, hash: u64, key: &K) {
        if let Some(number) = self.entries.find(hash, key)
            && self.entries[number].retry_at.take().is_some()
        {
            self.backing_off.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// How many keys are in a back-off, to be read at any time.
    pub(super) fn backing_off(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.backing_off)
    }

    /// The next key to work on.
    pub(super) fn pop(&mut self, now: Instant) -> Option<Taken<K>> {
        self.move_due(now);
        let number = self.ready.pop(&mut self.entries, now)?;
        self.at_work.push(&mut self.entries, number);
        let entry = &mut self.entries[number];
        (entry.place, entry.started) = (Place::AtWork, now);
        let (key, priority, waited) =
            (entry.key.clone(), entry.priority, now.saturating_duration_since(entry.accepted));
        self.measure(|meter| meter.taken(waited, now));
        self.refresh(now, false);
        Some(Taken { number, key, priority })
    }

    /// Ends the work on a key that was popped; what is returned is for the caller to drop, without a lock.
    pub(super) fn done(&mut self, number: usize, now: Instant) -> Option<K> {
        self.move_due(now);
        self.at_work.remove(&mut self.entries, number);
        let entry = &mut self.entries[number];
        entry.refused = false;
        let (started, worked) = (entry.started, entry.age(now));
        let again = std::mem::take(&mut entry.again);
        let gone = if again {
            self.again -= 1;
            self.wait(number);
            None
        } else if entry.due.is_some() {
            entry.place = Place::Delayed;
            None
        } else {
            Some(self.remove(number))
        };
        self.measure(|meter| meter.done(started, worked));
        self.refresh(now, false);
        gone
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.delayed.first_key_value().map(|((at, _), _)| *at)
    }

    /// How many keys wait.
    pub(super) fn len(&mut self, now: Instant) -> usize {
        self.move_due(now);
        self.ready.len()
    }

    /// Whether this key may come in, where there may be so many.
    pub(super) fn admit(&self, key: &Hashed<K>, capacity: Option<NonZeroUsize>) -> Result<(), Refused> {
        let is_full = |capacity: &NonZeroUsize| self.entries.len() >= capacity.get();
        match capacity.filter(is_full) {
            _ if self.shut_down => Err(Refused::ShutDown),
            Some(capacity) if self.entries.find(key.hash, &key.key).is_none() => Err(Refused::Full { capacity }),
            _ => Ok(()),
        }
    }

    /// How many keys wait, as of the last step.
    pub(super) fn waiting(&self) -> usize {
        self.ready.len()
    }

    /// Takes no more keys, and does with those due later as it says.
    pub(super) fn shut_down(&mut self, delayed: Delayed, now: Instant) {
        self.move_due(now);
        self.shut_down = true;
        for (_, number) in std::mem::take(&mut self.delayed) {
            let entry = &mut self.entries[number];
            entry.due = None;
            match delayed {
                Delayed::Flush => self.make_ready(number, now),
                Delayed::Drop if entry.place == Place::AtWork => {
                    entry.refused = true;
                    self.dropped.push(entry.key.clone());
                }
                Delayed::Drop => {
                    let key = self.remove(number);
                    self.dropped.push(key);
                }
            }
        }
    }

    pub(super) fn is_shut_down(&self) -> bool {
        self.shut_down
    }

    /// Shut down, with nothing left that a worker could get: no key waits, and none at work will come again.
    pub(super) fn is_over(&self) -> bool {
        self.shut_down && self.ready.len() == 0 && self.again == 0
    }

    /// Over, and nothing is at work.
    pub(super) fn is_drained(&self) -> bool {
        self.shut_down && self.entries.len() == 0
    }

    /// What was dropped since the shutdown.
    pub(super) fn dropped(&self) -> &[K] {
        &self.dropped
    }

    /// Tells the metrics how long keys are at work; at most each half second unless it must be now.
    pub(super) fn refresh(&mut self, now: Instant, must: bool) {
        if let Some(meter) = &mut self.meter
            && !self.shut_down
        {
            let oldest = self.at_work.first().map(|number| self.entries[number].age(now));
            meter.refresh(now, must, oldest.unwrap_or_default());
        }
    }
}
