//! Concurrent calls with the same key share one execution and its result.

use std::{collections::HashMap, fmt};

use futures::{
    FutureExt,
    future::{BoxFuture, Shared, WeakShared},
};
use parking_lot::Mutex;

use super::cache::Digest;

/// Executes at most one future per key at a time, as Go's `singleflight`.
///
/// Guarantees:
/// - a call during the execution for its key waits for the result of that execution;
/// - an execution continues while one of its callers waits, also if the caller that started it is dropped;
/// - an execution without callers is dropped: no task is detached.
pub(super) struct SingleFlight<V: Clone>(Mutex<Flights<V>>);

type Flights<V> = HashMap<Digest, WeakShared<BoxFuture<'static, V>>>;

impl<V: Clone> SingleFlight<V> {
    pub(super) fn new() -> Self {
        SingleFlight(Mutex::default())
    }

    /// Returns the result of the execution for this key, which `start` creates if there is none.
    pub(super) async fn run(&self, key: &Digest, start: impl FnOnce() -> BoxFuture<'static, V>) -> V {
        let flight = self.join(key, start);
        flight.await
    }

    fn join(&self, key: &Digest, start: impl FnOnce() -> BoxFuture<'static, V>) -> Shared<BoxFuture<'static, V>> {
        let mut flights = self.0.lock();
        // A completed one can have a caller that has not received its result yet.
        let in_flight = flights.get(key).and_then(WeakShared::upgrade).filter(|flight| flight.peek().is_none());
        if let Some(flight) = in_flight {
            return flight;
        }
        flights.retain(|_, flight| flight.upgrade().is_some());
        let flight = start().shared();
        if let Some(weak) = flight.downgrade() {
            flights.insert(key.clone(), weak);
        }
        flight
    }
}

impl<V: Clone> fmt::Debug for SingleFlight<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SingleFlight").field("keys", &self.0.lock().len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Arc,
            atomic::{AtomicU32, Ordering},
        },
        time::Duration,
    };

    use futures::future::{join, join_all};
    use tokio::time::{sleep, timeout};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Returns a future that takes a second and returns the number of executions.
    fn count(executions: &Arc<AtomicU32>) -> BoxFuture<'static, u32> {
        let executions = Arc::clone(executions);
        Box::pin(async move {
            sleep(SECOND).await;
            executions.fetch_add(1, Ordering::Relaxed) + 1
        })
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_during_the_execution_for_its_key_waits_for_the_result_of_that_execution() {
        let (flights, executions) = (SingleFlight::new(), Arc::default());
        let (a, b) = (Digest::new(b"a"), Digest::new(b"b"));
        let call = |key| flights.run(key, || count(&executions));
        assert_eq!(join_all((0..100).map(|_| call(&a))).await, [1; 100]);
        let (first, second) = join(call(&a), call(&b)).await;
        assert_eq!(first + second, 2 + 3, "each key has its execution");
        assert_eq!(flights.0.lock().len(), 2);
        call(&a).await;
        assert_eq!(flights.0.lock().len(), 1, "those of completed executions are removed");
    }

    #[tokio::test(start_paused = true)]
    async fn an_execution_continues_while_one_of_its_callers_waits() {
        let (flights, executions) = (SingleFlight::new(), Arc::default());
        let key = Digest::new(b"a");
        let dropped = timeout(SECOND / 2, flights.run(&key, || count(&executions)));
        let waiting = async {
            sleep(SECOND / 4).await;
            flights.run(&key, || count(&executions)).await
        };
        let (dropped, result) = join(dropped, waiting).await;
        assert!(dropped.is_err());
        assert_eq!((result, executions.load(Ordering::Relaxed)), (1, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn an_execution_without_callers_is_dropped() {
        let (flights, executions) = (SingleFlight::new(), Arc::default());
        let key = Digest::new(b"a");
        assert!(timeout(SECOND / 2, flights.run(&key, || count(&executions))).await.is_err());
        sleep(2 * SECOND).await;
        assert_eq!(executions.load(Ordering::Relaxed), 0);
        assert_eq!(flights.run(&key, || count(&executions)).await, 1);
    }
}
