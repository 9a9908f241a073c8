//! The queue's shell between threads, under a scheduler that tries their interleavings and finds those that get stuck.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use shuttle::future::{block_on, spawn, yield_now};
use shuttle::{check_pct, check_random, thread};

use super::config::Delayed;
use super::state::{Hashed, Request, State};

/// The same text as the queue's own, on the locks and the time of the scheduler.
#[expect(clippy::duplicate_mod, reason = "it is compiled once for each world it lives in")]
#[path = "shell.rs"]
mod shell;

/// What the shell takes from its surroundings, as the scheduler has it.
mod sync {
    use std::cell::Cell;
    use std::future::Future;
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use std::time::Duration;

    use shuttle::rand::{Rng, thread_rng};
    pub(super) use shuttle::sync::{Mutex, MutexGuard};
    use tokio::time::Instant;

    thread_local! {
        static PASSED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
        static START: Instant = Instant::now();
    }

    pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap()
    }

    pub(super) fn now() -> Instant {
        START.with(|start| *start) + PASSED.get()
    }

    pub(super) type Sleep = Pin<Box<Alarm>>;

    pub(super) fn sleep_until(at: Instant) -> Sleep {
        Box::pin(Alarm(at))
    }

    /// Time passes when somebody waits for it, and then only sometimes, so that others may come first.
    pub(super) struct Alarm(Instant);

    impl Future for Alarm {
        type Output = ();

        fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
            if self.0 > now() && thread_rng().gen_bool(0.5) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            PASSED.set(PASSED.get() + self.0.saturating_duration_since(now()));
            Poll::Ready(())
        }
    }
}

const ROUNDS: usize = 1000;

/// A queue, with what its workers do.
#[derive(Clone)]
struct Queue(Arc<shell::Shell<u8>>);

impl Queue {
    fn new() -> Self {
        Queue(Arc::new(shell::Shell::new(State::new(None, None))))
    }

    fn add(&self, key: u8) {
        let request = Request { at: None, priority: 0, is_retry: false };
        self.0.act(None, |state, now| state.add(Hashed { hash: key.into(), key }, request, now));
    }

    fn add_later(&self, key: u8, millis: u64) {
        let now = sync::now();
        let request = Request { at: Some(now + std::time::Duration::from_millis(millis)), priority: 0, is_retry: true };
        self.0.act(Some(now), |state, now| state.add(Hashed { hash: key.into(), key }, request, now));
    }

    fn shut_down(&self) {
        self.0.act(Some(sync::now()), |state, now| state.shut_down(Delayed::Drop, now));
        self.0.end_drains();
    }

    /// Works until the queue is over; gives the keys that came.
    async fn work(self) -> Vec<u8> {
        let mut came = Vec::new();
        while let Some(taken) = self.0.get().await {
            begin(taken.key);
            yield_now().await;
            end(taken.key);
            self.0.act(None, |state, now| state.done(taken.number, now));
            came.push(taken.key);
        }
        came
    }

    /// Begins to wait for a key, and gives up: at once, or after it may have been woken.
    async fn give_up(self) {
        let mut get = pin!(self.0.get());
        let mut again = true;
        let taken = std::future::poll_fn(|context| {
            let polled = get.as_mut().poll(context).map(Some);
            match std::mem::take(&mut again) && polled.is_pending() {
                // Another turn, so that others run before this gives up.
                true => {
                    context.waker().wake_by_ref();
                    std::task::Poll::Pending
                }
                false if polled.is_pending() => std::task::Poll::Ready(None),
                false => polled,
            }
        });
        if let Some(taken) = taken.await.flatten() {
            self.0.act(None, |state, now| {
                state.done(taken.number, now);
                state.add(
                    Hashed { hash: taken.key.into(), key: taken.key },
                    Request { at: None, priority: 0, is_retry: false },
                    now,
                )
            });
        }
    }
}

thread_local! {
    /// Which keys are at work, as bits. All threads of a round are one thread of the machine.
    static AT_WORK: Cell<u32> = const { Cell::new(0) };
}

fn begin(key: u8) {
    let bit = 1 << key;
    assert_eq!(AT_WORK.get() & bit, 0, "{key} is with two workers");
    AT_WORK.set(AT_WORK.get() | bit);
}

fn end(key: u8) {
    AT_WORK.set(AT_WORK.get() & !(1 << key));
}

fn check(round: impl Fn() + Send + Sync + Clone + 'static) {
    check_random(round.clone(), ROUNDS);
    check_pct(round, ROUNDS, 3);
}

#[test]
fn q02_no_key_is_with_two_workers_and_each_that_was_added_comes() {
    check(|| {
        let queue = Queue::new();
        let workers: Vec<_> = (0..2).map(|_| spawn(queue.clone().work())).collect();
        let adders: Vec<_> = (0..2)
            .map(|_| {
                let queue = queue.clone();
                thread::spawn(move || [0, 1, 0].into_iter().for_each(|key| queue.add(key)))
            })
            .collect();
        adders.into_iter().for_each(|adder| adder.join().unwrap());
        queue.shut_down();
        let came: BTreeSet<u8> = workers.into_iter().flat_map(|worker| block_on(worker).unwrap()).collect();
        assert_eq!(came, [0, 1].into());
    });
}

#[test]
fn q19_shutdown_never_gets_stuck_with_those_who_wait_or_add() {
    check(|| {
        let queue = Queue::new();
        let workers: Vec<_> = (0..2).map(|_| spawn(queue.clone().work())).collect();
        let adder = queue.clone();
        let adder = thread::spawn(move || (0..3).for_each(|key| adder.add(key)));
        let stopper = queue.clone();
        let stopper = thread::spawn(move || stopper.shut_down());
        queue.shut_down();
        adder.join().unwrap();
        stopper.join().unwrap();
        workers.into_iter().for_each(|worker| drop(block_on(worker).unwrap()));
    });
}

#[test]
fn a_wait_that_is_given_up_leaves_its_wake_up_to_another() {
    check(|| {
        let queue = Queue::new();
        let impatient: Vec<_> = (0..2).map(|_| spawn(queue.clone().give_up())).collect();
        let patient = spawn({
            let queue = queue.clone();
            async move { queue.0.get().await.map(|taken| taken.key) }
        });
        queue.add(7);
        assert_eq!(block_on(patient).unwrap(), Some(7));
        impatient.into_iter().for_each(|wait| block_on(wait).unwrap());
    });
}

#[test]
fn what_is_due_is_noticed_also_if_whoever_kept_the_time_gives_up() {
    check(|| {
        let queue = Queue::new();
        queue.add_later(1, 20);
        let impatient: Vec<_> = (0..2).map(|_| spawn(queue.clone().give_up())).collect();
        let patient: Vec<_> = (0..2)
            .map(|_| {
                let queue = queue.clone();
                spawn(async move { queue.0.get().await.map(|taken| taken.key) })
            })
            .collect();
        queue.add_later(2, 10);
        let came: BTreeSet<_> = patient.into_iter().map(|wait| block_on(wait).unwrap()).collect();
        assert_eq!(came, [Some(1), Some(2)].into());
        impatient.into_iter().for_each(|wait| block_on(wait).unwrap());
    });
}

#[test]
fn q20_q21_drains_end_when_all_is_done_for_all_who_wait() {
    check(|| {
        let queue = Queue::new();
        queue.add(0);
        queue.add_later(1, 10);
        let workers: Vec<_> = (0..2).map(|_| spawn(queue.clone().work())).collect();
        let drains: Vec<_> = (0..2)
            .map(|_| {
                let queue = queue.clone();
                spawn(async move { queue.0.drain(Delayed::Flush).await })
            })
            .collect();
        queue.add(2);
        drains.into_iter().for_each(|drain| assert!(block_on(drain).unwrap().complete));
        let came: BTreeSet<u8> = workers.into_iter().flat_map(|worker| block_on(worker).unwrap()).collect();
        assert!(came.is_superset(&[0, 1].into()), "{came:?}");
    });
}

#[test]
fn a_poll_that_nobody_follows_up_holds_nothing() {
    check_random(
        || {
            let queue = Queue::new();
            {
                let mut get = pin!(queue.0.get());
                assert!(get.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            }
            queue.add(1);
            assert_eq!(block_on(queue.0.get()).map(|taken| taken.key), Some(1));
        },
        1,
    );
}
