//! Tests of the queue's monitor under a scheduler that explores thread interleavings and detects deadlocks.

use std::{
    cell::Cell,
    collections::BTreeSet,
    pin::pin,
    sync::Arc,
    task::{Context, Waker},
};

use shuttle::{
    check_pct, check_random,
    future::{block_on, spawn, yield_now},
    thread,
};

use super::{
    config::DelayedKeys,
    state::{Hashed, Request, State},
};

/// The source of the queue's monitor, compiled with the locks and the clock of the scheduler.
#[expect(clippy::duplicate_mod, reason = "compiled for the queue and for the scheduler")]
#[path = "monitor.rs"]
mod monitor;

/// The locks and the clock of the scheduler.
mod sync {
    use std::{
        cell::Cell,
        future::Future,
        pin::Pin,
        task::{Context, Poll},
        time::Duration,
    };

    use shuttle::rand::{Rng, thread_rng};
    pub(super) use shuttle::sync::{Mutex, MutexGuard};
    use tokio::time::Instant;

    thread_local! {
        static ELAPSED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
        static START: Instant = Instant::now();
    }

    pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap()
    }

    pub(super) fn now() -> Instant {
        START.with(|start| *start) + ELAPSED.get()
    }

    pub(super) type Sleep = Pin<Box<Alarm>>;

    pub(super) fn sleep_until(at: Instant) -> Sleep {
        Box::pin(Alarm(at))
    }

    /// Time advances when a task waits for it, and then only at random, so that other tasks can run first.
    pub(super) struct Alarm(Instant);

    impl Future for Alarm {
        type Output = ();

        fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
            if self.0 > now() && thread_rng().gen_bool(0.5) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            ELAPSED.set(ELAPSED.get() + self.0.saturating_duration_since(now()));
            Poll::Ready(())
        }
    }
}

const ROUNDS: usize = 1000;

/// A queue with its workers.
#[derive(Clone)]
struct Queue(Arc<monitor::Monitor<u8>>);

impl Queue {
    fn new() -> Self {
        Queue(Arc::new(monitor::Monitor::new(State::new(None, None))))
    }

    fn add(&self, key: u8) {
        let request = Request { at: None, priority: 0, is_retry: false };
        self.0.update(None, |state, now| state.add(Hashed { hash: key.into(), key }, request, now));
    }

    fn add_after(&self, key: u8, millis: u64) {
        let now = sync::now();
        let request = Request { at: Some(now + std::time::Duration::from_millis(millis)), priority: 0, is_retry: true };
        self.0.update(Some(now), |state, now| state.add(Hashed { hash: key.into(), key }, request, now));
    }

    fn shut_down(&self) {
        self.0.update(Some(sync::now()), |state, now| state.shut_down(DelayedKeys::Drop, now));
        self.0.abort_drains();
    }

    /// Processes keys until the queue is exhausted, and returns them.
    async fn work(self) -> Vec<u8> {
        let mut processed = Vec::new();
        while let Some(dequeued) = self.0.get().await {
            start_processing(dequeued.key);
            yield_now().await;
            end_processing(dequeued.key);
            self.0.update(None, |state, now| state.done(dequeued.slot, now));
            processed.push(dequeued.key);
        }
        processed
    }

    /// Waits for a key and cancels the wait: at once, or after a wake-up.
    async fn cancel_get(self) {
        let mut get = pin!(self.0.get());
        let mut is_first = true;
        let dequeued = std::future::poll_fn(|context| {
            let polled = get.as_mut().poll(context).map(Some);
            match std::mem::take(&mut is_first) && polled.is_pending() {
                // Yields once, so that other tasks run before the cancellation.
                true => {
                    context.waker().wake_by_ref();
                    std::task::Poll::Pending
                }
                false if polled.is_pending() => std::task::Poll::Ready(None),
                false => polled,
            }
        });
        if let Some(dequeued) = dequeued.await.flatten() {
            self.0.update(None, |state, now| {
                state.done(dequeued.slot, now);
                state.add(
                    Hashed { hash: dequeued.key.into(), key: dequeued.key },
                    Request { at: None, priority: 0, is_retry: false },
                    now,
                )
            });
        }
    }
}

thread_local! {
    /// The keys being processed, as bits. The scheduler runs all threads of a round on one thread of the machine.
    static PROCESSING: Cell<u32> = const { Cell::new(0) };
}

fn start_processing(key: u8) {
    let bit = 1 << key;
    assert_eq!(PROCESSING.get() & bit, 0, "{key} is processed concurrently");
    PROCESSING.set(PROCESSING.get() | bit);
}

fn end_processing(key: u8) {
    PROCESSING.set(PROCESSING.get() & !(1 << key));
}

fn check(round: impl Fn() + Send + Sync + Clone + 'static) {
    check_random(round.clone(), ROUNDS);
    check_pct(round, ROUNDS, 3);
}

#[test]
fn q02_no_key_is_processed_concurrently_and_each_added_key_is_delivered() {
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
        let processed: BTreeSet<u8> = workers.into_iter().flat_map(|worker| block_on(worker).unwrap()).collect();
        assert_eq!(processed, [0, 1].into());
    });
}

#[test]
fn q19_shutdown_does_not_deadlock_with_getters_or_adders() {
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
fn a_cancelled_getter_passes_its_wake_up_to_another() {
    check(|| {
        let queue = Queue::new();
        let cancelled: Vec<_> = (0..2).map(|_| spawn(queue.clone().cancel_get())).collect();
        let getter = spawn({
            let queue = queue.clone();
            async move { queue.0.get().await.map(|dequeued| dequeued.key) }
        });
        queue.add(7);
        assert_eq!(block_on(getter).unwrap(), Some(7));
        cancelled.into_iter().for_each(|get| block_on(get).unwrap());
    });
}

#[test]
fn due_keys_are_delivered_after_the_getter_with_the_timer_is_cancelled() {
    check(|| {
        let queue = Queue::new();
        queue.add_after(1, 20);
        let cancelled: Vec<_> = (0..2).map(|_| spawn(queue.clone().cancel_get())).collect();
        let getters: Vec<_> = (0..2)
            .map(|_| {
                let queue = queue.clone();
                spawn(async move { queue.0.get().await.map(|dequeued| dequeued.key) })
            })
            .collect();
        queue.add_after(2, 10);
        let delivered: BTreeSet<_> = getters.into_iter().map(|get| block_on(get).unwrap()).collect();
        assert_eq!(delivered, [Some(1), Some(2)].into());
        cancelled.into_iter().for_each(|get| block_on(get).unwrap());
    });
}

#[test]
fn q20_q21_drains_end_for_all_callers_when_all_keys_are_processed() {
    check(|| {
        let queue = Queue::new();
        queue.add(0);
        queue.add_after(1, 10);
        let workers: Vec<_> = (0..2).map(|_| spawn(queue.clone().work())).collect();
        let drains: Vec<_> = (0..2)
            .map(|_| {
                let queue = queue.clone();
                spawn(async move { queue.0.drain(DelayedKeys::Flush).await })
            })
            .collect();
        queue.add(2);
        drains.into_iter().for_each(|drain| assert!(block_on(drain).unwrap().complete));
        let processed: BTreeSet<u8> = workers.into_iter().flat_map(|worker| block_on(worker).unwrap()).collect();
        assert!(processed.is_superset(&[0, 1].into()), "{processed:?}");
    });
}

#[test]
fn a_cancelled_poll_leaves_no_waiter_behind() {
    check_random(
        || {
            let queue = Queue::new();
            {
                let mut get = pin!(queue.0.get());
                assert!(get.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            }
            queue.add(1);
            assert_eq!(block_on(queue.0.get()).map(|dequeued| dequeued.key), Some(1));
        },
        1,
    );
}
