//! The builder of a controller: watches, gates, limits and metrics.

use std::{
    marker::PhantomData,
    sync::{Arc, Mutex},
    time::Duration,
};

use kube::Client;

use super::{
    Controller, Timeouts,
    gate::{Gate, KeyedGate},
    metrics::ControllerMetrics,
    object::{Context, ObjectControllerBuilder},
    processor::Processor,
    reconciler::{Action, AnyReconciler, ReconcileError, Reconciler},
    watch::{IntoWatch, Subscribe, controller_key, object_key, subscribe},
};
use crate::{
    factory::InformerFactory,
    metrics::{MetricsProvider, NoopMetrics},
    object::{ApiObject, ObjectKey},
    store::{Store, WriteGate},
    workqueue::{Config, RateLimiter, WorkQueue, rate_limit::ExponentialBackoff},
};

/// The default of controller-runtime.
const CACHE_SYNC_TIMEOUT: Duration = Duration::from_mins(2);
/// controller-runtime has no default, so a reconciliation that hangs occupies its worker and its key forever.
const RECONCILIATION_TIMEOUT: Duration = Duration::from_mins(5);
/// The default of controller-runtime's manager.
const GRACEFUL_SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(30);

/// Builds a controller of the objects of kind `K`.
#[must_use = "a controller does nothing until it is built and run"]
pub struct ControllerBuilder<K> {
    name: String,
    store: Store<K>,
    watches: Vec<Subscribe>,
    gates: Vec<Box<dyn Gate>>,
    max_concurrent_reconciles: usize,
    reconciliation_timeout: Duration,
    timeouts: Timeouts,
    rate_limiter: Box<dyn RateLimiter<ObjectKey>>,
    metrics: Arc<dyn MetricsProvider>,
    factory: Option<InformerFactory>,
}

impl<K: ApiObject> ControllerBuilder<K> {
    pub(super) fn new(name: String, watch: impl IntoWatch<Kind = K>) -> Self {
        let timeouts = Timeouts { cache_sync: CACHE_SYNC_TIMEOUT, graceful_shutdown: GRACEFUL_SHUTDOWN_TIMEOUT };
        let watch = watch.into_watch();
        ControllerBuilder {
            name,
            store: watch.store(),
            watches: vec![subscribe(watch, object_key())],
            gates: Vec::new(),
            max_concurrent_reconciles: 1,
            reconciliation_timeout: RECONCILIATION_TIMEOUT,
            timeouts,
            rate_limiter: Box::new(ExponentialBackoff::default()),
            metrics: Arc::new(NoopMetrics),
            factory: None,
        }
    }

    /// Watches objects that a `K` owns: their events enqueue the key of the owner that is marked as their controller,
    /// in any version.
    pub fn owns<W: IntoWatch>(mut self, watch: W) -> Self {
        self.watches.push(subscribe(watch.into_watch(), controller_key::<K, W::Kind>()));
        self
    }

    /// Watches other objects: their events enqueue the keys that the function maps them to. For an update, the function
    /// is called with the old and with the new object. If it panics, the panic is reported by the informer, and the
    /// function is called again with the same object after 1 s, 2 s and up to 5 minutes, until it returns.
    pub fn watches<W, F, I>(mut self, watch: W, keys: F) -> Self
    where
        W: IntoWatch,
        F: Fn(&W::Kind) -> I + Send + Sync + 'static,
        I: IntoIterator<Item = ObjectKey>,
    {
        self.watches.push(subscribe(watch.into_watch(), Box::new(move |object, found| found.extend(keys(object)))));
        self
    }

    /// Processes a key only when the cache contains the writes to its object that are recorded in this gate. The object
    /// is of the kind itself, or of another kind with the same names. So a reconciler does not act on a state that it
    /// has changed since.
    ///
    /// A worker waits up to 200 ms for the cache. After that it processes other keys, and the key is requeued after a
    /// second. Without a gate, keys are processed with the current state of the cache.
    pub fn read_your_writes<W: ApiObject>(self, gate: &WriteGate<W>) -> Self {
        self.read_your_writes_of(gate, |key| [key.clone()])
    }

    /// Processes a key only when the cache contains the recorded writes to the objects that the function maps it to.
    /// See [`read_your_writes`](Self::read_your_writes). If it panics, the key is requeued as after a failed
    /// reconciliation.
    pub fn read_your_writes_of<W, F, I>(mut self, gate: &WriteGate<W>, keys: F) -> Self
    where
        W: ApiObject,
        F: Fn(&ObjectKey) -> I + Send + Sync + 'static,
        I: IntoIterator<Item = ObjectKey> + 'static,
    {
        self.gates.push(Box::new(KeyedGate { gate: gate.clone(), keys }));
        self
    }

    /// Sets the maximum number of keys that are processed concurrently; 1 by default, and at least 1.
    pub fn max_concurrent_reconciles(mut self, count: usize) -> Self {
        self.max_concurrent_reconciles = count.max(1);
        self
    }

    /// Sets how long a reconciliation can take before it is cancelled and retried; 5 minutes by default.
    /// [`Duration::MAX`] is no limit.
    pub fn reconciliation_timeout(mut self, timeout: Duration) -> Self {
        self.reconciliation_timeout = timeout;
        self
    }

    /// Sets how long the informers can take to sync before [`run`](Controller::run) fails; 2 minutes by default.
    pub fn cache_sync_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.cache_sync = timeout;
        self
    }

    /// Sets how long running reconciliations can continue after a stop before they are cancelled; 30 seconds by
    /// default.
    pub fn graceful_shutdown_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.graceful_shutdown = timeout;
        self
    }

    /// Sets the rate limiter of retries. The default is an exponential back-off per key from 5 ms to 1000 s, as in
    /// controller-runtime; unlike the default of a [`WorkQueue`], it has no overall limit.
    pub fn rate_limiter(mut self, rate_limiter: impl RateLimiter<ObjectKey> + 'static) -> Self {
        self.rate_limiter = Box::new(rate_limiter);
        self
    }

    /// Sets the provider of the metrics of the controller and its queue; none by default.
    pub fn metrics(mut self, metrics: Arc<dyn MetricsProvider>) -> Self {
        self.metrics = metrics;
        self
    }

    /// Starts the informers of this factory in [`run`](Controller::run). Without it, they must be started separately.
    pub fn start_factory(mut self, factory: &InformerFactory) -> Self {
        self.factory = Some(factory.clone());
        self
    }

    /// Reconciles objects instead of keys: the function is called with the object of the key from the cache, and with a
    /// [`Context`] that contains the key, a client and a state. The state is created from that client, such as a
    /// generated clientset; `|_| ()` is no state.
    pub fn for_object<S, F, Fut, A, E>(
        self,
        client: Client,
        state: impl FnOnce(Client) -> S,
        reconcile: F,
    ) -> ObjectControllerBuilder<K, S>
    where
        S: Send + Sync + 'static,
        F: Fn(Arc<K>, Context<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A, E>> + Send + 'static,
        A: Into<Action> + 'static,
        E: Into<ReconcileError> + 'static,
    {
        ObjectControllerBuilder::new(self, client, state, reconcile)
    }

    /// Builds the controller. Its queue is filled from now on, if its informers run.
    pub fn build(self, reconciler: impl Reconciler) -> Controller {
        self.build_boxed(Box::new(reconciler))
    }

    /// Returns the cache of the reconciled objects.
    pub(super) fn store(&self) -> Store<K> {
        self.store.clone()
    }

    pub(super) fn build_boxed(self, reconciler: Box<dyn AnyReconciler>) -> Controller {
        let queue = WorkQueue::with_config(Config {
            name: self.name.clone(),
            rate_limiter: self.rate_limiter,
            metrics: Some(Arc::clone(&self.metrics)),
            ..Config::default()
        });
        let metrics = ControllerMetrics::new(self.metrics.as_ref(), &self.name);
        metrics.set_max_concurrent_reconciles(self.max_concurrent_reconciles);
        let watches = self.watches.into_iter().map(|subscribe| subscribe(queue.clone())).collect();
        let processor = Processor {
            name: self.name,
            queue,
            reconciler,
            gates: self.gates,
            reconciliation_timeout: self.reconciliation_timeout,
            metrics,
            processing: Arc::default(),
        };
        Controller {
            processor: Arc::new(processor),
            watches,
            max_concurrent_reconciles: self.max_concurrent_reconciles,
            timeouts: self.timeouts,
            factory: self.factory,
        }
    }
}
