//! The builder of a controller: watches, gates, limits and metrics.

use std::{sync::Arc, time::Duration};

use kube::Client;
use kubewright_core::description::{ControllerDescription, KindDescription, Permission};

use super::{
    Controller, Timeouts,
    allow::Allow,
    gate::{Gate, KeyedGate},
    loop_guard::LoopGuard,
    mapping::{KeyMapping, Target},
    metrics::ControllerMetrics,
    object::{ObjectControllerBuilder, ReconcileContext},
    own_writes::{CachedKind, OwnWrites, cached_kind},
    processor::Processor,
    reconciler::{Action, AnyReconciler, ReconcileError, Reconciler},
    sharded::{ShardedKeys, ShardedWatches, queue_acquired},
    trigger::Triggers,
    watch::{IntoWatch, Subscribe, Watch, controller_key, object_key, subscribe},
    write_layer::recording_client,
};
use crate::{
    factory::InformerFactory,
    metrics::{MetricsProvider, NoopMetrics},
    object::{ApiObject, ObjectKey, describe_kind},
    sharding::Sharding,
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
    kinds: Vec<Box<dyn CachedKind>>,
    gates: Vec<Box<dyn Gate>>,
    max_concurrent_reconciles: usize,
    reconciliation_timeout: Duration,
    timeouts: Timeouts,
    rate_limiter: Box<dyn RateLimiter<ObjectKey>>,
    metrics: Arc<dyn MetricsProvider>,
    factory: Option<InformerFactory>,
    owns: Vec<KindDescription>,
    also_watches: Vec<KindDescription>,
    allowed: Vec<Permission>,
    sharded: ShardedWatches,
}

impl<K: ApiObject> ControllerBuilder<K> {
    pub(super) fn new(name: String, watch: impl IntoWatch<Kind = K>) -> Self {
        let timeouts = Timeouts { cache_sync: CACHE_SYNC_TIMEOUT, graceful_shutdown: GRACEFUL_SHUTDOWN_TIMEOUT };
        let watch = watch.into_watch();
        let builder = ControllerBuilder {
            name,
            store: watch.store(),
            watches: Vec::new(),
            kinds: Vec::new(),
            gates: Vec::new(),
            max_concurrent_reconciles: 1,
            reconciliation_timeout: RECONCILIATION_TIMEOUT,
            timeouts,
            rate_limiter: Box::new(ExponentialBackoff::default()),
            metrics: Arc::new(NoopMetrics),
            factory: None,
            owns: Vec::new(),
            also_watches: Vec::new(),
            allowed: Vec::new(),
            sharded: ShardedWatches::default(),
        };
        builder.watch(watch, object_key())
    }

    /// Adds a watch, and its cache to those that must contain the writes of a reconciliation.
    fn watch<W: ApiObject>(mut self, watch: Watch<W>, keys: KeyMapping<W>) -> Self {
        self.kinds.push(cached_kind(&watch.store()));
        self.sharded.add(describe_kind::<W>(), watch.sharding());
        // The first watch is that of the reconciled objects.
        self.watches.push(subscribe(watch, keys, self.watches.is_empty()));
        self
    }

    /// Watches objects that a `K` owns: their events enqueue the key of the owner that is marked as their controller,
    /// in any version.
    pub fn owns<W: IntoWatch>(mut self, watch: W) -> Self {
        self.owns.push(describe_kind::<W::Kind>());
        self.watch(watch.into_watch(), controller_key::<K, W::Kind>())
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
        self.also_watches.push(describe_kind::<W::Kind>());
        self.watch(watch.into_watch(), Box::new(move |object, found| found.extend(keys(object))))
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

    /// Declares a permission that the reconciler needs besides those that follow from the watches: to read watched
    /// kinds, and to apply and delete owned ones. It is part of the [description](Controller::permissions), from which
    /// the roles of the operator are rendered, and has no effect on requests.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    /// use kubewright_runtime::controller::{Allow, ControllerBuilder, Verb};
    ///
    /// fn declare(builder: ControllerBuilder<ConfigMap>) -> ControllerBuilder<ConfigMap> {
    ///     builder.allow(Allow::<Secret>::verbs([Verb::Get]))
    /// }
    /// ```
    pub fn allow<W: ApiObject>(mut self, allow: Allow<W>) -> Self {
        self.allowed.push(allow.into());
        self
    }

    /// Shares the keys with other replicas, also if the informer of the reconciled kind contains all objects. Without this,
    /// the [sharding of that informer](crate::reflector::Config::sharding) applies, if it has one.
    pub fn sharding(mut self, sharding: &Sharding) -> Self {
        self.sharded.set(sharding);
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
    /// [`ReconcileContext`] that contains the key, a client and a state. The state is created from that client, such as a
    /// generated clientset; `|_| ()` is no state. The client records its writes, as with
    /// [`build_with_client`](Self::build_with_client).
    pub fn for_object<S, F, Fut, A, E>(
        self,
        client: Client,
        state: impl FnOnce(Client) -> S + Send + 'static,
        reconcile: F,
    ) -> ObjectControllerBuilder<K, S>
    where
        S: Send + Sync + 'static,
        F: Fn(Arc<K>, ReconcileContext<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A, E>> + Send + 'static,
        A: Into<Action> + 'static,
        E: Into<ReconcileError> + 'static,
    {
        ObjectControllerBuilder::new(self, client, state, reconcile)
    }

    /// Builds the controller. Its queue is filled from now on, if its informers run.
    pub fn build(self, reconciler: impl Reconciler) -> Controller {
        self.build_with(Box::new(reconciler), None)
    }

    /// Builds the controller with a reconciler that is created from the client of the controller, which sends its
    /// requests with this client. The controller records the writes of each reconciliation through it to the watched
    /// kinds, whether by a typed client, a clientset or kube's `Api`: the key is not reconciled again before the caches
    /// contain them, for up to 10 s. So [`read_your_writes`](Self::read_your_writes) is only needed for the writes of
    /// other clients.
    ///
    /// Deletions of collections, and writes of tasks that a reconciler spawns, are not recorded.
    pub fn build_with_client<R: Reconciler>(self, client: &Client, reconciler: impl FnOnce(Client) -> R) -> Controller {
        self.build_recording(client, |client, _| reconciler(client))
    }

    pub(super) fn build_recording<R: Reconciler>(
        mut self,
        client: &Client,
        reconciler: impl FnOnce(Client, &Arc<OwnWrites>) -> R,
    ) -> Controller {
        let loop_guard = LoopGuard::new(&self.name, self.metrics.as_ref());
        let writes = OwnWrites::new(std::mem::take(&mut self.kinds), loop_guard);
        let reconciler = reconciler(recording_client(client, Arc::clone(&writes)), &writes);
        self.gates.push(Box::new(Arc::clone(&writes)));
        self.build_with(Box::new(reconciler), Some(writes))
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the cache of the reconciled objects.
    pub(super) fn store(&self) -> Store<K> {
        self.store.clone()
    }

    fn build_with(self, reconciler: Box<dyn AnyReconciler>, own_writes: Option<Arc<OwnWrites>>) -> Controller {
        let description = ControllerDescription {
            name: self.name.clone(),
            reconciles: describe_kind::<K>(),
            owns: self.owns,
            watches: self.also_watches,
        };
        let queue = WorkQueue::with_config(Config {
            name: self.name.clone(),
            rate_limiter: self.rate_limiter,
            metrics: Some(Arc::clone(&self.metrics)),
            ..Config::default()
        });
        let metrics = ControllerMetrics::new(self.metrics.as_ref(), &self.name);
        metrics.set_max_concurrent_reconciles(self.max_concurrent_reconciles);
        let triggers = Arc::<Triggers>::default();
        let sharding_conflict = self.sharded.conflict();
        let shard = self
            .sharded
            .sharding()
            .map(|sharding| Arc::new(ShardedKeys::new(&self.name, sharding, self.store.clone())));
        let target = Target { queue, own_writes, triggers, shard };
        let acquired = queue_acquired(self.store, &target);
        let watches = self.watches.into_iter().map(|subscribe| subscribe(target.clone())).collect();
        let Target { queue, own_writes, triggers, shard } = target;
        let participant = shard.as_ref().map(|shard| shard.participate());
        let processor = Processor {
            name: self.name,
            queue,
            reconciler,
            gates: self.gates,
            own_writes,
            triggers,
            shard,
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
            description,
            allowed: self.allowed,
            sharding_conflict,
            participant,
            _acquired: acquired,
        }
    }
}
