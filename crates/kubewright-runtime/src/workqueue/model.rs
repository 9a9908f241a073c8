//! Property tests of the queue's state against a simple reference model.

use std::{collections::BTreeMap, time::Duration};

use proptest::prelude::*;
use tokio::time::Instant;

use super::{
    config::DelayedKeys,
    state::{Hashed, Request, State},
};

/// A step of a history. There are few keys, so that they interact. Times are milliseconds.
#[derive(Clone, Debug)]
enum Step {
    Add(u8, i32),
    AddAfter(u8, u64, i32),
    /// At that time, which may be past.
    AddAt(u8, u64),
    Pop,
    /// Marks one of the keys being processed as done; the index wraps around.
    Done(usize),
    Advance(u64),
    ShutDown(DelayedKeys),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = || 0..5u8;
    let priority = || prop_oneof![4 => Just(0), 1 => -1..3];
    let step = prop_oneof![
        12 => (key(), priority()).prop_map(|(key, priority)| Step::Add(key, priority)),
        12 => (key(), 0..8u64, priority()).prop_map(|(key, delay, priority)| Step::AddAfter(key, delay, priority)),
        6 => (key(), 0..30u64).prop_map(|(key, at)| Step::AddAt(key, at)),
        15 => Just(Step::Pop),
        10 => (0..5usize).prop_map(Step::Done),
        8 => (1..5u64).prop_map(Step::Advance),
        1 => prop_oneof![Just(DelayedKeys::Drop), Just(DelayedKeys::Flush)].prop_map(Step::ShutDown),
    ];
    prop::collection::vec(step, 0..80)
}

/// The queue as its guarantees describe it: plain lists with linear search, and a clock that advances tick by tick.
#[derive(Default)]
struct Model {
    now: u64,
    /// In the order in which they became ready.
    ready: Vec<u8>,
    processing: Vec<u8>,
    requeued: Vec<u8>,
    /// Due time and key, in the order of the requests.
    delayed: Vec<(u64, u8)>,
    /// The priorities of the next deliveries.
    priorities: BTreeMap<u8, i32>,
    shut_down: bool,
    dropped: Vec<u8>,
}

impl Model {
    fn add_at(&mut self, key: u8, at: u64, priority: i32) {
        if self.shut_down {
            return self.reject(key, true);
        }
        self.raise_priority(key, priority);
        if at <= self.now {
            return self.make_ready(key);
        }
        let is_due_before = self.delayed.iter().any(|(due, other)| *other == key && *due <= at);
        let is_ready = self.ready.contains(&key) || self.requeued.contains(&key);
        if !is_ready && !is_due_before {
            self.delayed.retain(|(_, other)| *other != key);
            self.delayed.push((at, key));
        }
    }

    fn add(&mut self, key: u8, priority: i32) {
        match self.shut_down {
            true => self.reject(key, false),
            false => self.add_at(key, self.now, priority),
        }
    }

    fn reject(&mut self, key: u8, is_retry: bool) {
        let stays_failed = self.processing.contains(&key) && !self.requeued.contains(&key);
        // After the shutdown a key is processed at most once more, so it fails at most once.
        if is_retry && stays_failed && !self.dropped.contains(&key) {
            self.dropped.push(key);
        }
    }

    fn raise_priority(&mut self, key: u8, priority: i32) {
        let is_delayed = self.delayed.iter().any(|(_, other)| *other == key);
        let is_ready = self.ready.contains(&key);
        let is_requested = is_ready || is_delayed || self.requeued.contains(&key);
        if !is_requested || priority > self.priorities[&key] {
            self.priorities.insert(key, priority);
            if is_ready {
                self.ready.retain(|other| *other != key);
                self.ready.push(key);
            }
        }
    }

    fn pop(&mut self) -> Option<(u8, i32)> {
        let highest = self.ready.iter().map(|key| self.priorities[key]).max()?;
        let index = self.ready.iter().position(|key| self.priorities[key] == highest)?;
        let key = self.ready.remove(index);
        assert!(!self.processing.contains(&key));
        self.processing.push(key);
        Some((key, highest))
    }

    fn done(&mut self, key: u8) {
        self.processing.retain(|other| *other != key);
        if self.requeued.contains(&key) {
            self.requeued.retain(|other| *other != key);
            self.make_ready(key);
        }
    }

    /// Advances tick by tick, so that keys become ready in the order of their due times.
    fn advance(&mut self, ticks: u64) {
        for _ in 0..ticks {
            self.now += 1;
            let due: Vec<u8> = self.delayed.iter().filter(|(at, _)| *at == self.now).map(|(_, key)| *key).collect();
            due.into_iter().for_each(|key| self.make_ready(key));
        }
    }

    fn shut_down(&mut self, delayed: DelayedKeys) {
        self.shut_down = true;
        self.delayed.sort_by_key(|(at, _)| *at);
        for (_, key) in std::mem::take(&mut self.delayed) {
            match delayed {
                DelayedKeys::Drop => self.dropped.push(key),
                DelayedKeys::Flush => self.make_ready(key),
            }
        }
    }

    fn make_ready(&mut self, key: u8) {
        self.delayed.retain(|(_, other)| *other != key);
        let list = match self.processing.contains(&key) {
            true => &mut self.requeued,
            false => &mut self.ready,
        };
        if !list.contains(&key) {
            list.push(key);
        }
    }

    fn is_exhausted(&self) -> bool {
        self.shut_down && self.ready.is_empty() && self.requeued.is_empty()
    }
}

fn key(key: u8) -> Hashed<u8> {
    // Some hashes collide.
    Hashed { hash: u64::from(key % 3), key }
}

fn request(at: Option<Instant>, priority: i32) -> Request {
    Request { at, priority, is_retry: at.is_some() }
}

/// The state and the model, and the slots of the keys being processed.
struct Comparison {
    state: State<u8>,
    model: Model,
    slots: BTreeMap<u8, usize>,
    start: Instant,
}

impl Comparison {
    fn new() -> Self {
        let (state, model, slots) = (State::new(None, None), Model::default(), BTreeMap::new());
        Comparison { state, model, slots, start: Instant::now() }
    }

    fn at(&self, tick: u64) -> Instant {
        self.start + Duration::from_millis(tick)
    }

    fn apply(&mut self, step: Step) -> Result<(), TestCaseError> {
        let now = self.at(self.model.now);
        let (state, model) = (&mut self.state, &mut self.model);
        match step {
            Step::Add(name, priority) => {
                state.add(key(name), request(None, priority), now);
                model.add(name, priority);
            }
            Step::AddAfter(name, delay, priority) => {
                state.add(key(name), request(Some(now + Duration::from_millis(delay)), priority), now);
                model.add_at(name, model.now + delay, priority);
            }
            Step::AddAt(name, at) => {
                state.add(key(name), request(Some(self.start + Duration::from_millis(at)), 0), now);
                model.add_at(name, at, 0);
            }
            Step::Pop => {
                let dequeued = state.pop(now);
                prop_assert_eq!(dequeued.as_ref().map(|dequeued| (dequeued.key, dequeued.priority)), model.pop());
                self.slots.extend(dequeued.map(|dequeued| (dequeued.key, dequeued.slot)));
            }
            Step::Done(index) => {
                if let Some(name) = model.processing.get(index % model.processing.len().max(1)).copied() {
                    state.done(self.slots[&name], now);
                    model.done(name);
                }
            }
            Step::Advance(ticks) => model.advance(ticks),
            Step::ShutDown(delayed) => {
                state.shut_down(delayed, now);
                model.shut_down(delayed);
            }
        }
        Ok(())
    }

    fn check(&mut self) -> Result<(), TestCaseError> {
        let now = self.at(self.model.now);
        prop_assert_eq!(self.state.len(now), self.model.ready.len());
        let next_due = self.model.delayed.iter().map(|(at, _)| *at).min();
        prop_assert_eq!(self.state.next_due(), next_due.map(|tick| self.at(tick)));
        prop_assert_eq!(self.state.is_exhausted(), self.model.is_exhausted());
        prop_assert_eq!(self.state.is_drained(), self.model.is_exhausted() && self.model.processing.is_empty());
        prop_assert_eq!(self.state.dropped(), &self.model.dropped);
        Ok(())
    }
}

proptest! {
    #[test]
    fn any_history_matches_the_reference_model(steps in steps()) {
        let mut comparison = Comparison::new();
        for step in steps {
            comparison.apply(step)?;
            comparison.check()?;
        }
    }

    #[test]
    fn q20_after_any_history_a_drain_ends_with_each_key_processed_or_reported(steps in steps()) {
        let mut comparison = Comparison::new();
        for step in steps {
            comparison.apply(step)?;
        }
        comparison.apply(Step::ShutDown(DelayedKeys::Drop))?;
        for _ in 0..20 {
            comparison.apply(Step::Pop)?;
            comparison.apply(Step::Done(0))?;
            comparison.check()?;
        }
        prop_assert!(comparison.state.is_drained());
    }
}
