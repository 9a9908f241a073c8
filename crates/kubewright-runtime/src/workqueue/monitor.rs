//! The lock around the queue's state, and the tasks that wait for it to change.
//!
//! Compiled twice: for the queue, and for tests under a scheduler that explores thread interleavings.

use std::{
    future::{Future, poll_fn},
    task::{Context, Poll, Waker, ready},
};

use tokio::{task::coop, time::Instant};

use super::sync::{Mutex, MutexGuard, Sleep, lock, now, sleep_until};
use crate::workqueue::{
    config::{DelayedKeys, DrainReport},
    state::{Dequeued, State},
    waiters::{WaiterId, Waiters},
};

/// The state behind a lock. Aligned so that the lock shares no cache line with the fields beside it.
#[repr(align(128))]
pub(in crate::workqueue) struct Monitor<K> {
    inner: Mutex<Inner<K>>,
    /// An arbitrary time, for steps that do not depend on the clock.
    created: Instant,
}

/// Guarantees:
/// - while keys are ready and getters wait, as many getters are woken as keys are ready;
/// - while a key is delayed and a getter waits, one of them has a timer, or one that was woken will set it.
struct Inner<K> {
    state: State<K>,
    getters: Waiters,
    drainers: Waiters,
    /// The getter that has a timer, and its deadline. One timer is enough.
    timer: Option<(WaiterId, Instant)>,
    /// The number of getters that were woken and have not been polled since.
    woken: usize,
    /// The number of times all drains were aborted.
    aborts: u64,
}

impl<K: Clone + Eq> Inner<K> {
    /// Returns the wakers to call after a step.
    #[inline]
    fn take_wakers(&mut self) -> Vec<Waker> {
        match self.getters.is_empty() && self.drainers.is_empty() {
            true => Vec::new(),
            false => self.select_wakers(),
        }
    }

    fn select_wakers(&mut self) -> Vec<Waker> {
        let mut wakers = Vec::new();
        if self.state.is_shut_down() {
            self.select_shutdown_wakers(&mut wakers);
        }
        // A woken getter takes at most one key. If another getter was faster, it waits again.
        while self.woken < self.state.ready_len() {
            let Some(waker) = self.getters.pop(self.timer.map(|(id, _)| id)) else { break };
            self.woken += 1;
            wakers.push(waker);
        }
        self.assign_timer(&mut wakers);
        wakers
    }

    fn select_shutdown_wakers(&mut self, wakers: &mut Vec<Waker>) {
        if self.state.is_exhausted() {
            let before = wakers.len();
            wakers.extend(self.getters.take_all());
            self.woken += wakers.len() - before;
        }
        if self.state.is_drained() {
            wakers.extend(self.drainers.take_all());
        }
    }

    /// Wakes a getter to set the timer for the next due key, unless one that is already woken will do so.
    fn assign_timer(&mut self, wakers: &mut Vec<Waker>) {
        if self.woken > 0 || self.getters.is_empty() {
            return;
        }
        let Some(due) = self.state.next_due() else { return };
        let waker = match self.timer {
            Some((_, deadline)) if deadline <= due => None,
            Some((id, _)) => self.getters.remove(id),
            None => self.getters.pop(None),
        };
        if let Some(waker) = waker {
            self.woken += 1;
            wakers.push(waker);
        }
    }

    /// Unregisters a getter that is polled or dropped.
    fn unregister(&mut self, id: WaiterId) {
        if self.timer.is_some_and(|(owner, _)| owner == id) {
            self.timer = None;
        }
        if self.getters.remove(id).is_none() {
            self.woken -= 1;
        }
    }
}

impl<K: Clone + Eq> Monitor<K> {
    pub(in crate::workqueue) fn new(state: State<K>) -> Self {
        let (getters, drainers) = (Waiters::default(), Waiters::default());
        let inner = Inner { state, getters, drainers, timer: None, woken: 0, aborts: 0 };
        Monitor { inner: Mutex::new(inner), created: now() }
    }

    /// Runs a step on the state, at the given time or, if `at` is `None`, at the current time if the step depends on
    /// it.
    pub(in crate::workqueue) fn update<T>(
        &self,
        at: Option<Instant>,
        step: impl FnOnce(&mut State<K>, Instant) -> T,
    ) -> T {
        let mut inner = self.lock();
        let at = at.unwrap_or_else(|| self.time(&inner));
        let result = step(&mut inner.state, at);
        let wakers = inner.take_wakers();
        drop(inner);
        wakers.into_iter().for_each(Waker::wake);
        result
    }

    /// Waits for the next key; `None` if there will be none.
    pub(in crate::workqueue) async fn get(&self) -> Option<Dequeued<K>> {
        let mut get = Get { monitor: self, id: None, sleep: None };
        poll_fn(|context| get.poll(context)).await
    }

    /// Ends every drain, even if keys are left.
    pub(in crate::workqueue) fn abort_drains(&self) {
        let mut inner = self.lock();
        inner.aborts += 1;
        let wakers: Vec<Waker> = inner.drainers.take_all().collect();
        drop(inner);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Shuts the queue down and waits until it is drained.
    pub(in crate::workqueue) async fn drain(&self, delayed: DelayedKeys) -> DrainReport<K> {
        let mut drain = Drain { monitor: self, id: None, aborts: self.lock().aborts };
        self.update(Some(now()), |state, now| state.shut_down(delayed, now));
        poll_fn(|context| drain.poll(context)).await
    }

    fn lock(&self) -> MutexGuard<'_, Inner<K>> {
        lock(&self.inner)
    }

    fn time(&self, inner: &Inner<K>) -> Instant {
        if inner.state.needs_clock() { now() } else { self.created }
    }
}

/// Waits for a key.
struct Get<'a, K: Clone + Eq> {
    monitor: &'a Monitor<K>,
    id: Option<WaiterId>,
    sleep: Option<Sleep>,
}

enum Next<K> {
    Key(Dequeued<K>),
    Exhausted,
    /// No key is ready. This getter sets the timer, if a time is given.
    Wait(Option<Instant>),
}

impl<K: Clone + Eq> Get<'_, K> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Dequeued<K>>> {
        // A worker that never has to wait yields its thread from time to time.
        let budget = ready!(coop::poll_proceed(context));
        loop {
            let key = match self.next(context.waker()) {
                Next::Key(key) => Some(key),
                Next::Exhausted => None,
                Next::Wait(None) => {
                    self.sleep = None;
                    return Poll::Pending;
                }
                Next::Wait(Some(due)) => {
                    ready!(self.sleep.insert(sleep_until(due)).as_mut().poll(context));
                    continue;
                }
            };
            budget.made_progress();
            return Poll::Ready(key);
        }
    }

    /// Takes a key, or registers as a waiter.
    fn next(&mut self, waker: &Waker) -> Next<K> {
        let mut inner = self.monitor.lock();
        if let Some(id) = self.id.take() {
            inner.unregister(id);
        }
        let now = self.monitor.time(&inner);
        let next = match inner.state.pop(now) {
            Some(key) => Next::Key(key),
            None if inner.state.is_exhausted() => Next::Exhausted,
            None => {
                let id = inner.getters.push(waker.clone());
                self.id = Some(id);
                let due = inner.state.next_due().filter(|_| inner.timer.is_none());
                inner.timer = inner.timer.or(due.map(|due| (id, due)));
                Next::Wait(due)
            }
        };
        let wakers = inner.take_wakers();
        drop(inner);
        wakers.into_iter().for_each(Waker::wake);
        next
    }
}

impl<K: Clone + Eq> Drop for Get<'_, K> {
    /// Passes the wake-up of a cancelled getter on to another one.
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let mut inner = self.monitor.lock();
        inner.unregister(id);
        let wakers = inner.take_wakers();
        drop(inner);
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// Waits until the queue is drained.
struct Drain<'a, K: Clone + Eq> {
    monitor: &'a Monitor<K>,
    id: Option<WaiterId>,
    /// The number of aborts when this drain started.
    aborts: u64,
}

impl<K: Clone + Eq> Drain<'_, K> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<DrainReport<K>> {
        let mut inner = self.monitor.lock();
        if let Some(id) = self.id.take() {
            inner.drainers.remove(id);
        }
        let complete = inner.state.is_drained();
        if complete || inner.aborts != self.aborts {
            return Poll::Ready(DrainReport { dropped: inner.state.dropped().to_vec(), complete });
        }
        self.id = Some(inner.drainers.push(context.waker().clone()));
        Poll::Pending
    }
}

impl<K: Clone + Eq> Drop for Drain<'_, K> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            self.monitor.lock().drainers.remove(id);
        }
    }
}
