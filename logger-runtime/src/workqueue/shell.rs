//! The queue's lock, and those who sleep until there is something to do; the state machine below knows neither.
//!
//! Compiled twice: as the queue, and for tests that try the interleavings of its threads.

use std::future::{Future, poll_fn};
use std::task::{Context, Poll, Waker, ready};

use tokio::task::coop;
use tokio::time::Instant;

use super::sync::{Mutex, MutexGuard, Sleep, lock, now, sleep_until};
use crate::workqueue::config::{Delayed, Drained};
use crate::workqueue::sleepers::{Sleepers, Ticket};
use crate::workqueue::state::{State, Taken};

/// A state behind a lock. Aligned so that what others read or count beside it is not in its cache lines.
#[repr(align(128))]
pub(in crate::workqueue) struct Shell<K> {
    core: Mutex<Core<K>>,
    /// Some time: for steps that do not depend on it.
    some_time: Instant,
}

/// It promises: if keys wait and getters sleep, as many were woken as keys wait; while one is due later and somebody sleeps, one of
/// the sleepers, or one that is awake and on its way to the lock, sees to it that it is noticed in time.
struct Core<K> {
    state: State<K>,
    getters: Sleepers,
    drainers: Sleepers,
    /// Which getter has an alarm, and for when: one is enough.
    timekeeper: Option<(Ticket, Instant)>,
    /// Getters that were woken and were not back yet.
    woken: usize,
    /// How often all drains were ended.
    ended: u64,
}

impl<K: Clone + Eq> Core<K> {
    /// Who has to wake up after a step.
    #[inline]
    fn settle(&mut self) -> Vec<Waker> {
        match self.getters.is_empty() && self.drainers.is_empty() {
            true => Vec::new(),
            false => self.wake(),
        }
    }

    fn wake(&mut self) -> Vec<Waker> {
        let mut wakers = Vec::new();
        if self.state.is_shut_down() {
            self.settle_shut_down(&mut wakers);
        }
        // Each that was woken takes one key at most; one that finds none, because another was quicker, sleeps again.
        while self.woken < self.state.waiting() {
            let Some(waker) = self.getters.take_one(self.timekeeper.map(|(ticket, _)| ticket)) else { break };
            self.woken += 1;
            wakers.push(waker);
        }
        self.appoint(&mut wakers);
        wakers
    }

    fn settle_shut_down(&mut self, wakers: &mut Vec<Waker>) {
        if self.state.is_over() {
            let before = wakers.len();
            wakers.extend(self.getters.take_all());
            self.woken += wakers.len() - before;
        }
        if self.state.is_drained() {
            wakers.extend(self.drainers.take_all());
        }
    }

    /// Sees to it that somebody notices the next key that is due. One that was woken does when it comes back.
    fn appoint(&mut self, wakers: &mut Vec<Waker>) {
        if self.woken > 0 || self.getters.is_empty() {
            return;
        }
        let Some(due) = self.state.next_due() else { return };
        let waker = match self.timekeeper {
            Some((_, alarm)) if alarm <= due => None,
            Some((ticket, _)) => self.getters.remove(ticket),
            None => self.getters.take_one(None),
        };
        if let Some(waker) = waker {
            self.woken += 1;
            wakers.push(waker);
        }
    }

    /// A getter is awake, for whatever reason.
    fn is_back(&mut self, ticket: Ticket) {
        if self.timekeeper.is_some_and(|(timekeeper, _)| timekeeper == ticket) {
            self.timekeeper = None;
        }
        if self.getters.remove(ticket).is_none() {
            self.woken -= 1;
        }
    }
}

impl<K: Clone + Eq> Shell<K> {
    pub(in crate::workqueue) fn new(state: State<K>) -> Self {
        let (getters, drainers) = (Sleepers::default(), Sleepers::default());
        let core = Core { state, getters, drainers, timekeeper: None, woken: 0, ended: 0 };
        Shell { core: Mutex::new(core), some_time: now() }
    }

    /// Does a step, as of a time or, if the step reads none, whenever.
    pub(in crate::workqueue) fn act<T>(
        &self,
        at: Option<Instant>,
        step: impl FnOnce(&mut State<K>, Instant) -> T,
    ) -> T {
        let mut core = self.lock();
        let at = at.unwrap_or_else(|| self.time(&core));
        let done = step(&mut core.state, at);
        let wakers = core.settle();
        drop(core);
        wakers.into_iter().for_each(Waker::wake);
        done
    }

    /// The next key, or `None` when there will be none.
    pub(in crate::workqueue) async fn get(&self) -> Option<Taken<K>> {
        let mut getting = Getting { shell: self, ticket: None, alarm: None };
        poll_fn(|context| getting.poll(context)).await
    }

    /// Ends every drain, also if not all is done.
    pub(in crate::workqueue) fn end_drains(&self) {
        let mut core = self.lock();
        core.ended += 1;
        let wakers: Vec<Waker> = core.drainers.take_all().collect();
        drop(core);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Shuts down, and waits until nothing is left.
    pub(in crate::workqueue) async fn drain(&self, delayed: Delayed) -> Drained<K> {
        let mut draining = Draining { shell: self, ticket: None, ended: self.lock().ended };
        self.act(Some(now()), |state, now| state.shut_down(delayed, now));
        poll_fn(|context| draining.poll(context)).await
    }

    fn lock(&self) -> MutexGuard<'_, Core<K>> {
        lock(&self.core)
    }

    fn time(&self, core: &Core<K>) -> Instant {
        if core.state.watches_clock() { now() } else { self.some_time }
    }
}

/// A wait for a key.
struct Getting<'a, K: Clone + Eq> {
    shell: &'a Shell<K>,
    ticket: Option<Ticket>,
    alarm: Option<Sleep>,
}

enum Found<K> {
    Key(Taken<K>),
    Over,
    /// Nothing yet; there is something to be noticed then.
    Nothing(Option<Instant>),
}

impl<K: Clone + Eq> Getting<'_, K> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Taken<K>>> {
        // A worker that never has to wait leaves its thread to others from time to time.
        let turn = ready!(coop::poll_proceed(context));
        loop {
            let key = match self.look(context.waker()) {
                Found::Key(key) => Some(key),
                Found::Over => None,
                Found::Nothing(None) => {
                    self.alarm = None;
                    return Poll::Pending;
                }
                Found::Nothing(Some(due)) => {
                    ready!(self.alarm.insert(sleep_until(due)).as_mut().poll(context));
                    continue;
                }
            };
            turn.made_progress();
            return Poll::Ready(key);
        }
    }

    /// Takes a key, or goes to sleep.
    fn look(&mut self, waker: &Waker) -> Found<K> {
        let mut core = self.shell.lock();
        if let Some(ticket) = self.ticket.take() {
            core.is_back(ticket);
        }
        let now = self.shell.time(&core);
        let found = match core.state.pop(now) {
            Some(key) => Found::Key(key),
            None if core.state.is_over() => Found::Over,
            None => {
                let ticket = core.getters.push(waker.clone());
                self.ticket = Some(ticket);
                let due = core.state.next_due().filter(|_| core.timekeeper.is_none());
                core.timekeeper = core.timekeeper.or(due.map(|due| (ticket, due)));
                Found::Nothing(due)
            }
        };
        let wakers = core.settle();
        drop(core);
        wakers.into_iter().for_each(Waker::wake);
        found
    }
}

impl<K: Clone + Eq> Drop for Getting<'_, K> {
    /// Whoever gives up after it was woken leaves what it was woken for to another.
    fn drop(&mut self) {
        let Some(ticket) = self.ticket.take() else { return };
        let mut core = self.shell.lock();
        core.is_back(ticket);
        let wakers = core.settle();
        drop(core);
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// A wait for the end of all work.
struct Draining<'a, K: Clone + Eq> {
    shell: &'a Shell<K>,
    ticket: Option<Ticket>,
    /// What this was when it began.
    ended: u64,
}

impl<K: Clone + Eq> Draining<'_, K> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Drained<K>> {
        let mut core = self.shell.lock();
        if let Some(ticket) = self.ticket.take() {
            core.drainers.remove(ticket);
        }
        let complete = core.state.is_drained();
        if complete || core.ended != self.ended {
            return Poll::Ready(Drained { dropped: core.state.dropped().to_vec(), complete });
        }
        self.ticket = Some(core.drainers.push(context.waker().clone()));
        Poll::Pending
    }
}

impl<K: Clone + Eq> Drop for Draining<'_, K> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.shell.lock().drainers.remove(ticket);
        }
    }
}
