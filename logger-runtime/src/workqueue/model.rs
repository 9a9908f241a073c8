//! The queue's state against a naive one: random histories, after each step of which both must look the same.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use tokio::time::Instant;

use super::config::Delayed;
use super::state::{Hashed, Request, State};

/// A step of a history. Keys are few, so that they meet. Times are milliseconds.
#[derive(Clone, Debug)]
enum Step {
    Add(u8, i32),
    AddAfter(u8, u64, i32),
    /// For that time, which may be past.
    AddAt(u8, u64),
    Pop,
    /// Ends the work on one of the keys at work: this one, counted around.
    Done(usize),
    Pass(u64),
    ShutDown(Delayed),
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
        8 => (1..5u64).prop_map(Step::Pass),
        1 => prop_oneof![Just(Delayed::Drop), Just(Delayed::Flush)].prop_map(Step::ShutDown),
    ];
    prop::collection::vec(step, 0..80)
}

/// The queue as its promises describe it: plain lists, searched from end to end, and a clock that moves keys as it goes.
#[derive(Default)]
struct Naive {
    now: u64,
    /// In the order they came to wait.
    waiting: Vec<u8>,
    at_work: Vec<u8>,
    again: Vec<u8>,
    /// When and which, in the order of the requests.
    later: Vec<(u64, u8)>,
    /// Of the deliveries to come.
    priorities: BTreeMap<u8, i32>,
    shut_down: bool,
    dropped: Vec<u8>,
}

impl Naive {
    fn add_at(&mut self, key: u8, at: u64, priority: i32) {
        if self.shut_down {
            return self.refuse(key, true);
        }
        self.raise(key, priority);
        if at <= self.now {
            return self.arrive(key);
        }
        let comes_as_soon = self.later.iter().any(|(due, other)| *other == key && *due <= at);
        let comes_anyway = self.waiting.contains(&key) || self.again.contains(&key);
        if !comes_anyway && !comes_as_soon {
            self.later.retain(|(_, other)| *other != key);
            self.later.push((at, key));
        }
    }

    fn add(&mut self, key: u8, priority: i32) {
        match self.shut_down {
            true => self.refuse(key, false),
            false => self.add_at(key, self.now, priority),
        }
    }

    fn refuse(&mut self, key: u8, is_retry: bool) {
        let stays_undone = self.at_work.contains(&key) && !self.again.contains(&key);
        // A key is at work once at a time, and comes to work but once after the shutdown, so it fails once.
        if is_retry && stays_undone && !self.dropped.contains(&key) {
            self.dropped.push(key);
        }
    }

    fn raise(&mut self, key: u8, priority: i32) {
        let is_later = self.later.iter().any(|(_, other)| *other == key);
        let waits = self.waiting.contains(&key);
        let is_asked_for = waits || is_later || self.again.contains(&key);
        if !is_asked_for || priority > self.priorities[&key] {
            self.priorities.insert(key, priority);
            if waits {
                self.waiting.retain(|other| *other != key);
                self.waiting.push(key);
            }
        }
    }

    fn pop(&mut self) -> Option<(u8, i32)> {
        let highest = self.waiting.iter().map(|key| self.priorities[key]).max()?;
        let index = self.waiting.iter().position(|key| self.priorities[key] == highest)?;
        let key = self.waiting.remove(index);
        assert!(!self.at_work.contains(&key));
        self.at_work.push(key);
        Some((key, highest))
    }

    fn done(&mut self, key: u8) {
        self.at_work.retain(|other| *other != key);
        if self.again.contains(&key) {
            self.again.retain(|other| *other != key);
            self.arrive(key);
        }
    }

    /// One tick after the other, so that keys arrive in the order they are due.
    fn pass(&mut self, ticks: u64) {
        for _ in 0..ticks {
            self.now += 1;
            let due: Vec<u8> = self.later.iter().filter(|(at, _)| *at == self.now).map(|(_, key)| *key).collect();
            due.into_iter().for_each(|key| self.arrive(key));
        }
    }

    fn shut_down(&mut self, delayed: Delayed) {
        self.shut_down = true;
        self.later.sort_by_key(|(at, _)| *at);
        for (_, key) in std::mem::take(&mut self.later) {
            match delayed {
                Delayed::Drop => self.dropped.push(key),
                Delayed::Flush => self.arrive(key),
            }
        }
    }

    fn arrive(&mut self, key: u8) {
        self.later.retain(|(_, other)| *other != key);
        let list = match self.at_work.contains(&key) {
            true => &mut self.again,
            false => &mut self.waiting,
        };
        if !list.contains(&key) {
            list.push(key);
        }
    }

    fn is_over(&self) -> bool {
        self.shut_down && self.waiting.is_empty() && self.again.is_empty()
    }
}

fn key(key: u8) -> Hashed<u8> {
    // Some hashes are the same.
    Hashed { hash: u64::from(key % 3), key }
}

fn request(at: Option<Instant>, priority: i32) -> Request {
    Request { at, priority, is_retry: at.is_some() }
}

/// Both queues, and the numbers of the keys at work.
struct Both {
    state: State<u8>,
    naive: Naive,
    numbers: BTreeMap<u8, usize>,
    start: Instant,
}

impl Both {
    fn new() -> Self {
        let (state, naive, numbers) = (State::new(None, None), Naive::default(), BTreeMap::new());
        Both { state, naive, numbers, start: Instant::now() }
    }

    fn at(&self, tick: u64) -> Instant {
        self.start + Duration::from_millis(tick)
    }

    fn take(&mut self, step: Step) -> Result<(), TestCaseError> {
        let now = self.at(self.naive.now);
        let (state, naive) = (&mut self.state, &mut self.naive);
        match step {
            Step::Add(name, priority) => {
                state.add(key(name), request(None, priority), now);
                naive.add(name, priority);
            }
            Step::AddAfter(name, delay, priority) => {
                state.add(key(name), request(Some(now + Duration::from_millis(delay)), priority), now);
                naive.add_at(name, naive.now + delay, priority);
            }
            Step::AddAt(name, at) => {
                state.add(key(name), request(Some(self.start + Duration::from_millis(at)), 0), now);
                naive.add_at(name, at, 0);
            }
            Step::Pop => {
                let taken = state.pop(now);
                prop_assert_eq!(taken.as_ref().map(|taken| (taken.key, taken.priority)), naive.pop());
                self.numbers.extend(taken.map(|taken| (taken.key, taken.number)));
            }
            Step::Done(index) => {
                if let Some(name) = naive.at_work.get(index % naive.at_work.len().max(1)).copied() {
                    state.done(self.numbers[&name], now);
                    naive.done(name);
                }
            }
            Step::Pass(ticks) => naive.pass(ticks),
            Step::ShutDown(delayed) => {
                state.shut_down(delayed, now);
                naive.shut_down(delayed);
            }
        }
        Ok(())
    }

    fn compare(&mut self) -> Result<(), TestCaseError> {
        let now = self.at(self.naive.now);
        prop_assert_eq!(self.state.len(now), self.naive.waiting.len());
        let next_due = self.naive.later.iter().map(|(at, _)| *at).min();
        prop_assert_eq!(self.state.next_due(), next_due.map(|tick| self.at(tick)));
        prop_assert_eq!(self.state.is_over(), self.naive.is_over());
        prop_assert_eq!(self.state.is_drained(), self.naive.is_over() && self.naive.at_work.is_empty());
        prop_assert_eq!(self.state.dropped(), &self.naive.dropped);
        Ok(())
    }
}

proptest! {
    #[test]
    fn any_history_looks_the_same_as_that_of_a_naive_queue(steps in steps()) {
        let mut both = Both::new();
        for step in steps {
            both.take(step)?;
            both.compare()?;
        }
    }

    #[test]
    fn q20_after_any_history_a_drain_ends_with_each_key_worked_on_or_reported(steps in steps()) {
        let mut both = Both::new();
        for step in steps {
            both.take(step)?;
        }
        both.take(Step::ShutDown(Delayed::Drop))?;
        for _ in 0..20 {
            both.take(Step::Pop)?;
            both.take(Step::Done(0))?;
            both.compare()?;
        }
        prop_assert!(both.state.is_drained());
    }
}
