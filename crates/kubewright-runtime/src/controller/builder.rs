//! The builder of a controller: watches, gates, limits and metrics.

use std::{sync::Arc, time::Duration};

use kube::Client;
use kubewright_core::{
    description::{ControllerDescription, KindDescription, Permission, Verb},
    verbs,
};

use super::{
    Controller, Timeouts,
    allow::Allow,
    gate::{AnyWriteGate, Gate},
    key_states::KeyStates,
    loop_guard::LoopGuard,
    mapping::KeyMapping,
    metrics::ControllerMetrics,
    object::{ObjectReconciler, ReconcileContext},
    own_writes::OwnWrites,
    processor::Processor,
    reconciler::{Action, AnyReconciler, ReconcileError, Reconciler},
    references::references,
    sharded::{ShardedKeys, ShardedWatches},
    target::{Target, queue_acquired},
    watch::{IntoWatch, Subscribe, Watch, controller_key, object_key, subscribe},
    write_layer::recording_client,
};
use crate::{
    client::{FieldManager, ScopedObject},
    error::BoxError,
    events::EventRecorder,
    factory::InformerFactory,
    informer::SharedInformer,
    metrics::Metrics,
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

/// Builds a controller of the objects of kind `K`. Its methods can be called in any order.
///
/// `R` is what the controller calls: nothing yet, or the [functions](ObjectReconciler) of
/// [`reconcile`](Self::reconcile).
#[must_use = "a controller does nothing until it is built and run"]
pub struct ControllerBuilder<K, R = ()> {
    options: Options<K>,
    reconciler: R,
}

/// The options of a controller, which do not depend on its reconciler.
pub(super) struct Options<K> {
    pub(super) name: String,
    pub(super) store: Store<K>,
    /// Adds an index to the cache of the reconciled objects.
    informer: SharedInformer<K>,
    client: Option<Client>,
    pub(super) recorder: Option<EventRecorder>,
    watches: Vec<Subscribe>,
    states: Arc<KeyStates>,
    /// The gates of the watched kinds, for the writes of the controller.
    own_gates: Vec<Arc<dyn AnyWriteGate>>,
    gates: Vec<Gate>,
    max_concurrent_reconciles: usize,
    reconciliation_timeout: Duration,
    timeouts: Timeouts,
    rate_limiter: Box<dyn RateLimiter<ObjectKey>>,
    metrics: Metrics,
    factory: Option<InformerFactory>,
    owns: Vec<KindDescription>,
    also_watches: Vec<KindDescription>,
    allowed: Vec<Permission>,
    sharded: ShardedWatches,
    /// Why the controller cannot run.
    invalid: Option<String>,
}

impl<K: ApiObject> ControllerBuilder<K> {
    pub(super) fn new(name: String, watch: impl IntoWatch<Kind = K>) -> Self {
        let timeouts = Timeouts { cache_sync: CACHE_SYNC_TIMEOUT, graceful_shutdown: GRACEFUL_SHUTDOWN_TIMEOUT };
        let watch = watch.into_watch();
        let options = Options {
            name,
            store: watch.store(),
            informer: watch.informer().clone(),
            client: None,
            recorder: None,
            watches: Vec::new(),
            states: Arc::default(),
            own_gates: Vec::new(),
            gates: Vec::new(),
            max_concurrent_reconciles: 1,
            reconciliation_timeout: RECONCILIATION_TIMEOUT,
            timeouts,
            rate_limiter: Box::new(ExponentialBackoff::default()),
            metrics: Metrics::default(),
            factory: None,
            owns: Vec::new(),
            also_watches: Vec::new(),
            allowed: Vec::new(),
            sharded: ShardedWatches::default(),
            invalid: None,
        };
        ControllerBuilder { options, reconciler: () }.watch(watch, object_key())
    }

    /// Reconciles objects: the function is called with the object of each key from the cache, and with a
    /// [`ReconcileContext`]. See [`ObjectReconciler`].
    pub fn reconcile<F, Fut, A, E>(self, reconcile: F) -> ControllerBuilder<K, ObjectReconciler<K>>
    where
        F: Fn(Arc<K>, ReconcileContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A, E>> + Send + 'static,
        A: Into<Action> + 'static,
        E: Into<BoxError> + 'static,
    {
        self.reconcile_with(|_| (), reconcile)
    }

    /// Reconciles objects with a state, to which the context dereferences. It is created from the client of the
    /// controller, such as a generated clientset.
    pub fn reconcile_with<S, F, Fut, A, E>(
        self,
        state: impl FnOnce(Client) -> S + Send + 'static,
        reconcile: F,
    ) -> ControllerBuilder<K, ObjectReconciler<K, S>>
    where
        S: Send + Sync + 'static,
        F: Fn(Arc<K>, ReconcileContext<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A, E>> + Send + 'static,
        A: Into<Action> + 'static,
        E: Into<BoxError> + 'static,
    {
        ControllerBuilder { options: self.options, reconciler: ObjectReconciler::new(state, reconcile) }
    }

    /// Builds a controller of keys: the reconciler gets the key of the object, also of one that does not exist. Its
    /// queue is filled from now on, if its informers run.
    pub fn build(self, reconciler: impl Reconciler) -> Controller {
        self.options.build_with(Box::new(reconciler), None)
    }

    /// Builds a controller of keys with a reconciler that is created from the client of the controller. The controller
    /// records the writes of each reconciliation through it to the watched kinds, whether by a typed client, a
    /// clientset or kube's `Api`: the key is not reconciled again before the caches contain them, for up to 10 s. So
    /// [`read_your_writes`](Self::read_your_writes) is only needed for the writes of other clients.
    ///
    /// Deletions of collections, and writes of tasks that a reconciler spawns, are not recorded.
    pub fn build_with_client<R: Reconciler>(self, reconciler: impl FnOnce(Client) -> R) -> Controller {
        self.options.build_recording(|client, _| reconciler(client))
    }
}

impl<K: ApiObject, S: Send + Sync + 'static> ControllerBuilder<K, ObjectReconciler<K, S>> {
    /// Calls this function for a key whose object does not exist, for example to forget what is stored about it. It is
    /// called after each deletion, but not for objects that are deleted while the program does not run: use a
    /// [finalizer](Self::finalizer) for resources outside the cluster. Without this function, such keys are done.
    pub fn on_deleted<F, Fut, A, E>(mut self, on_deleted: F) -> Self
    where
        F: Fn(ReconcileContext<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A, E>> + Send + 'static,
        A: Into<Action> + 'static,
        E: Into<BoxError> + 'static,
    {
        self.reconciler.set_on_deleted(on_deleted);
        self
    }

    /// Calls this function with each error of the reconciler, for example to record an event. It returns the error, or
    /// another one, to be logged and retried, or an [`Action`] that replaces the retry.
    pub fn on_error<F>(mut self, on_error: F) -> Self
    where
        F: Fn(&Arc<K>, ReconcileError, &ReconcileContext<S>) -> Result<Action, ReconcileError> + Send + Sync + 'static,
    {
        self.reconciler.set_on_error(on_error);
        self
    }

    /// Adds this finalizer to each object before it is reconciled. An object that is being deleted is passed to the
    /// cleanup in place of the reconciler, and the finalizer is removed when the cleanup has succeeded. Declares the
    /// permission to patch objects of the kind. See [`finalize`](super::finalize).
    pub fn finalizer<F, Fut, A, E>(mut self, name: &'static str, cleanup: F) -> Self
    where
        K: ScopedObject + verbs::Patch,
        F: Fn(Arc<K>, ReconcileContext<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A, E>> + Send + 'static,
        A: Into<Action> + 'static,
        E: Into<BoxError> + 'static,
    {
        self.reconciler = self.reconciler.with_finalizer(name, cleanup);
        self.allow(Allow::<K>::verbs([Verb::Patch]))
    }

    /// Builds the controller. Its queue is filled from now on, if its informers run.
    pub fn build(self) -> Controller {
        let ControllerBuilder { options, reconciler } = self;
        let (store, recorder) = (options.store.clone(), options.recorder.clone());
        let manager = FieldManager::new(&options.name).force();
        options.build_recording(|client, writes| reconciler.start(store, client, manager, recorder, Arc::clone(writes)))
    }
}

impl<K: ApiObject, R> ControllerBuilder<K, R> {
    /// Adds a watch, and its cache to those that must contain the writes of a reconciliation.
    fn watch<W: ApiObject>(mut self, watch: Watch<W>, keys: KeyMapping<W>) -> Self {
        let options = &mut self.options;
        options.own_gates.push(Arc::new(WriteGate::new(watch.store())));
        options.sharded.add(describe_kind::<W>(), watch.sharding());
        // The first watch is that of the reconciled objects.
        options.watches.push(subscribe(watch, keys, options.watches.is_empty()));
        self
    }

    /// Watches objects that a `K` owns: their events enqueue the key of the owner that is marked as their controller,
    /// in any version.
    pub fn owns<W: IntoWatch>(mut self, watch: W) -> Self {
        self.options.owns.push(describe_kind::<W::Kind>());
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
        self.options.also_watches.push(describe_kind::<W::Kind>());
        self.watch(watch.into_watch(), Box::new(move |object, found| found.extend(keys(object))))
    }

    /// Watches the objects to which objects of the reconciled kind refer by name: an event of such an object enqueues
    /// the keys of those that refer to it, which an index finds. The function returns the name. A namespaced object is
    /// in the namespace of the object that refers to it.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::{Pod, Secret};
    /// use kubewright_runtime::{SharedInformer, controller::ControllerBuilder};
    ///
    /// fn watch_pull_secrets(builder: ControllerBuilder<Pod>, secrets: &SharedInformer<Secret>) -> ControllerBuilder<Pod> {
    ///     builder.watches_by(secrets, |pod| {
    ///         let secrets = pod.spec.as_ref()?.image_pull_secrets.as_deref()?;
    ///         Some(secrets.first()?.name.as_str())
    ///     })
    /// }
    /// ```
    pub fn watches_by<W, F>(mut self, watch: W, reference: F) -> Self
    where
        W: IntoWatch,
        F: for<'a> Fn(&'a K) -> Option<&'a str> + Send + Sync + 'static,
    {
        match references::<K, W::Kind, F>(&self.options.informer, reference) {
            Ok(keys) => self.watches(watch, keys),
            Err(error) => {
                self.options.invalid.get_or_insert_with(|| error.to_string());
                self
            }
        }
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
        self.options.gates.push(Gate::new(gate.clone(), keys));
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
        self.options.allowed.push(allow.into());
        self
    }

    /// Shares the keys with other replicas, also if the informer of the reconciled kind contains all objects. Without
    /// this, the [sharding of that informer](crate::reflector::Config::sharding) applies, if it has one.
    pub fn sharding(mut self, sharding: &Sharding) -> Self {
        self.options.sharded.set(sharding);
        self
    }

    /// Sets the maximum number of keys that are processed concurrently; 1 by default, and at least 1.
    pub fn max_concurrent_reconciles(mut self, count: usize) -> Self {
        self.options.max_concurrent_reconciles = count.max(1);
        self
    }

    /// Sets how long a reconciliation can take before it is cancelled and retried; 5 minutes by default.
    /// [`Duration::MAX`] is no limit.
    pub fn reconciliation_timeout(mut self, timeout: Duration) -> Self {
        self.options.reconciliation_timeout = timeout;
        self
    }

    /// Sets how long the informers can take to sync before [`run`](Controller::run) fails; 2 minutes by default. The
    /// time restarts while their lists receive objects.
    pub fn cache_sync_timeout(mut self, timeout: Duration) -> Self {
        self.options.timeouts.cache_sync = timeout;
        self
    }

    /// Sets how long running reconciliations can continue after a stop before they are cancelled; 30 seconds by
    /// default.
    pub fn graceful_shutdown_timeout(mut self, timeout: Duration) -> Self {
        self.options.timeouts.graceful_shutdown = timeout;
        self
    }

    /// Sets the rate limiter of retries. The default is an exponential back-off per key from 5 ms to 1000 s, as in
    /// controller-runtime; unlike the default of a [`WorkQueue`], it has no overall limit.
    pub fn rate_limiter(mut self, rate_limiter: impl RateLimiter<ObjectKey> + 'static) -> Self {
        self.options.rate_limiter = Box::new(rate_limiter);
        self
    }

    /// Sets where the metrics of the controller and its queue are collected; nowhere by default.
    pub fn metrics(mut self, metrics: Metrics) -> Self {
        self.options.metrics = metrics;
        self
    }

    /// Starts the informers of this factory in [`run`](Controller::run). Without it, they must be started separately.
    pub fn start_factory(mut self, factory: &InformerFactory) -> Self {
        self.options.factory = Some(factory.clone());
        self
    }

    /// Sets the client of the reconciler; by default that of the informer of the reconciled kind.
    pub fn client(mut self, client: &Client) -> Self {
        self.options.client = Some(client.clone());
        self
    }

    /// Sets the recorder of [`ReconcileContext::event`]; without one, such events are only logged.
    pub fn events(mut self, recorder: &EventRecorder) -> Self {
        self.options.recorder = Some(recorder.clone());
        self
    }
}

impl<K: ApiObject> Options<K> {
    fn build_recording<R: Reconciler>(mut self, reconciler: impl FnOnce(Client, &Arc<OwnWrites>) -> R) -> Controller {
        let Some(client) = self.client.take().or_else(|| self.informer.client()) else {
            let reason = "its informer has no API, and so no client; set one with `client`";
            self.invalid.get_or_insert_with(|| reason.to_owned());
            return self.build_with(Box::new(|_: ObjectKey| async { Ok::<_, ReconcileError>(()) }), None);
        };
        let loop_guard = LoopGuard::new(&self.name, &self.metrics);
        let writes = OwnWrites::new(std::mem::take(&mut self.own_gates), Arc::clone(&self.states), loop_guard);
        let reconciler = reconciler(recording_client(&client, Arc::clone(&writes)), &writes);
        self.build_with(Box::new(reconciler), Some(writes))
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
            metrics: Some(self.metrics.clone()),
            ..Config::default()
        });
        let metrics = ControllerMetrics::new(&self.metrics, &self.name);
        metrics.set_max_concurrent_reconciles(self.max_concurrent_reconciles);
        let invalid = self.invalid.or_else(|| self.sharded.conflict());
        let states = self.states;
        let shard = self
            .sharded
            .sharding()
            .map(|sharding| Arc::new(ShardedKeys::new(&self.name, sharding, self.store.clone(), Arc::clone(&states))));
        let target = Target { queue, states, shard };
        let acquired = queue_acquired(self.store, &target);
        let watches = self.watches.into_iter().map(|subscribe| subscribe(target.clone())).collect();
        let Target { queue, states, shard } = target;
        let participant = shard.as_ref().map(|shard| shard.participate());
        let processor = Processor {
            name: self.name,
            queue,
            reconciler,
            gates: self.gates,
            own_writes,
            states,
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
            waits_while_forbidden: false,
            factory: self.factory,
            description,
            allowed: self.allowed,
            invalid,
            participant,
            _acquired: acquired,
        }
    }
}
