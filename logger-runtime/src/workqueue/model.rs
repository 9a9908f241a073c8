//! The queue's state against a naive one: random histories, after each step of which both must look the same.

use std::time::Duration;

use proptest::prelude::*;
use tokio::time::Instant;

use super::state::State;

/// A step of a history. Keys are few, so that they meet.
#[derive(Clone, Debug)]
enum Step {
    Add(u8),
    AddAfter(u8, u64),
    Pop,
    /// Ends the work on one of the keys at work: this one, counted around.
    Done(usize),
    Pass(u64),
    ShutDown,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = || 0..5u8;
    let step = prop_oneof![
        6 => key().prop_map(Step::Add),
        6 => (key(), 0..8u64).prop_map(|(key, delay)| Step::AddAfter(key, delay)),
        6 => Just(Step::Pop),
        4 => (0..5usize).prop_map(Step::Done),
        4 => (1..5u64).prop_map(Step::Pass),
        1 => Just(Step::ShutDown),
    ];
    prop::collection::vec(step, 0..60)
}

/// The queue as its promises describe it: plain lists, searched from end to end, and a clock that moves keys as it goes.
#[derive(Default)]
struct Naive {
    now: u64,
    waiting: Vec<u8>,
    at_work: Vec<u8>,
    again: Vec<u8>,
    /// When and which, in the order of the requests.
    later: Vec<(u64, u8)>,
    shut_down: bool,
}

impl Naive {
    fn add(&mut self, key: u8) {
        if !self.shut_down {
            self.later.retain(|(_, other)| *other != key);
            self.arrive(key);
        }
    }

    fn add_after(&mut self, key: u8, delay: u64) {
        let at = self.now + delay;
        let comes_as_soon = self.later.iter().any(|(due, other)| *other == key && *due <= at);
        let comes_anyway = self.waiting.contains(&key) || self.again.contains(&key);
        if delay == 0 {
            self.add(key);
        } else if !self.shut_down && !comes_anyway && !comes_as_soon {
            self.later.retain(|(_, other)| *other != key);
            self.later.push((at, key));
        }
    }

    fn pop(&mut self) -> Option<u8> {
        let key = (!self.waiting.is_empty()).then(|| self.waiting.remove(0))?;
        self.at_work.push(key);
        Some(key)
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
            let (due, later) = self.later.drain(..).partition(|(at, _)| *at == self.now);
            self.later = later;
            let due: Vec<(u64, u8)> = due;
            due.into_iter().for_each(|(_, key)| self.arrive(key));
        }
    }

    fn shut_down(&mut self) {
        self.shut_down = true;
        self.later.clear();
    }

    fn arrive(&mut self, key: u8) {
        let list = match self.at_work.contains(&key) {
            true => &mut self.again,
            false => &mut self.waiting,
        };
        if !list.contains(&key) {
            list.push(key);
        }
    }

    fn next_due(&self) -> Option<u64> {
        self.later.iter().map(|(at, _)| *at).min()
    }

    fn is_over(&self) -> bool {
        self.shut_down && self.waiting.is_empty() && self.again.is_empty()
    }
}

proptest! {
    #[test]
    fn any_history_looks_the_same_as_that_of_a_naive_queue(steps in steps()) {
        let start = Instant::now();
        let at = |tick| start + Duration::from_millis(tick);
        let (mut state, mut naive) = (State::default(), Naive::default());
        for step in steps {
            let now = at(naive.now);
            match step {
                Step::Add(key) => {
                    state.add(key, now);
                    naive.add(key);
                }
                Step::AddAfter(key, delay) => {
                    state.add_at(key, now, Duration::from_millis(delay));
                    naive.add_after(key, delay);
                }
                Step::Pop => {
                    let next = naive.pop();
                    prop_assert_eq!(state.pop(now), next);
                }
                Step::Done(index) if !naive.at_work.is_empty() => {
                    let key = naive.at_work[index % naive.at_work.len()];
                    state.done(&key, now);
                    naive.done(key);
                }
                Step::Done(_) => {}
                Step::Pass(ticks) => {
                    naive.pass(ticks);
                    continue;
                }
                Step::ShutDown => {
                    state.shut_down(now);
                    naive.shut_down();
                }
            }
            prop_assert_eq!(state.len(now), naive.waiting.len());
            prop_assert_eq!(state.next_due(), naive.next_due().map(at));
            prop_assert_eq!(state.is_over(), naive.is_over());
        }
    }

    #[test]
    fn in_any_history_what_was_added_before_the_shutdown_comes_and_then_the_queue_is_over(steps in steps()) {
        let now = Instant::now();
        let mut state = State::default();
        let mut wanted = std::collections::BTreeSet::new();
        let mut came = Vec::new();
        for step in steps {
            match step {
                Step::Add(key) => {
                    state.add(key, now);
                    wanted.insert(key);
                }
                Step::Pop => came.extend(state.pop(now)),
                _ => {}
            }
        }
        state.shut_down(now);
        state.add(u8::MAX, now);
        for _ in 0..100 {
            came.iter().for_each(|key| state.done(key, now));
            came.extend(state.pop(now));
        }
        prop_assert!(state.is_over());
        prop_assert_eq!(came.into_iter().collect::<std::collections::BTreeSet<_>>(), wanted);
    }
}
