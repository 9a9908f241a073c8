//! What a controller is to watch and how it is to work, before it is built.

use std::marker::PhantomData;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::gate::{Gate, KeyedGate};
use super::measures::Measures;
use super::reconciler::Reconciler;
use super::watch::{IntoWatch, Subscribe, own_key, owners_key, subscribe};
use super::worker::Workshop;
use super::{Controller, Limits};
use crate::factory::InformerFactory;
use crate::key::ObjectKey;
use crate::metrics::{Metrics, NoMetrics};
use crate::object::ApiObject;
use crate::store::WriteGate;
use crate::workqueue::rate_limit::ExponentialBackoff;
use crate::workqueue::{Config, RateLimiter, WorkQueue};

/// How long the informers may take before [`run`](Controller::run) gives up, as in controller-runtime.
const SYNC_TIMEOUT: Duration = Duration::from_mins(2);
/// How long what is at work at a stop may go on, as controller-runtime's manager allows.
const GRACE_PERIOD: Duration = Duration::from_secs(30);

/// Describes a controller of objects of kind `K`; [`build`](Self::build) makes it.
#[must_use = "a controller does nothing until it is built and run"]
pub struct ControllerBuilder<K> {
    name: String,
    watches: Vec<Subscribe>,
    gates: Vec<Box<dyn Gate>>,
    workers: usize,
    time_limit: Option<Duration>,
    limits: Limits,
    rate_limiter: Box<dyn RateLimiter<ObjectKey>>,
    metrics: Arc<dyn Metrics>,
    factory: Option<InformerFactory>,
    kind: PhantomData<fn() -> K>,
}

impl<K: ApiObject> ControllerBuilder<K> {
    pub(super) fn new(name: String, watch: impl IntoWatch<Kind = K>) -> Self {
        ControllerBuilder {
            name,
            watches: vec![subscribe(watch.into_watch(), own_key())],
            gates: Vec::new(),
            workers: 1,
            time_limit: None,
            limits: Limits { sync: SYNC_TIMEOUT, grace: GRACE_PERIOD },
            rate_limiter: Box::new(ExponentialBackoff::default()),
            metrics: Arc::new(NoMetrics),
            factory: None,
            kind: PhantomData,
        }
    }

    /// Watches objects that a `K` owns: an event of theirs brings the key of the owner that is marked as their controller,
    /// of whatever version.
    pub fn owns<W: IntoWatch>(mut self, watch: W) -> Self {
        self.watches.push(subscribe(watch.into_watch(), owners_key::<K, W::Kind>()));
        self
    }

    /// Watches objects that have to do with a `K` in another way: an event of theirs brings the keys that the function gives.
    /// Of an update it is asked twice, with what the object was and what it is.
    pub fn watches<W, F, I>(mut self, watch: W, keys: F) -> Self
    where
        W: IntoWatch,
        F: Fn(&W::Kind) -> I + Send + Sync + 'static,
        I: IntoIterator<Item = ObjectKey>,
    {
        self.watches.push(subscribe(watch.into_watch(), Box::new(move |object, found| found.extend(keys(object)))));
        self
    }

    /// Has a key wait until the cache has what the reconciler wrote of the object of that key, and noted in this gate: of the
    /// kind itself, or of another whose objects have the same names. So it does not act on what it has changed since.
    ///
    /// A worker waits a fifth of a second for that at most; then others have their turn, and the key comes again after a
    /// second. Without a gate a key is worked on with what the cache has.
    pub fn read_your_writes<W: ApiObject>(self, gate: &WriteGate<W>) -> Self {
        self.read_your_writes_of(gate, |key| [key.clone()])
    }

    /// The same, of the objects whose keys this function gives for the key that is worked on.
    pub fn read_your_writes_of<W, F, I>(mut self, gate: &WriteGate<W>, keys: F) -> Self
    where
        W: ApiObject,
        F: Fn(&ObjectKey) -> I + Send + Sync + 'static,
        I: IntoIterator<Item = ObjectKey> + 'static,
    {
        self.gates.push(Box::new(KeyedGate { gate: gate.clone(), keys }));
        self
    }

    /// How many keys may be at work at once: 1 if this is not said, and at least 1.
    pub fn workers(mut self, count: usize) -> Self {
        self.workers = count.max(1);
        self
    }

    /// How long the work on one key may take before it is cancelled and tried again; no limit if this is not said.
    pub fn reconcile_timeout(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }

    /// How long the informers may take to sync before [`run`](Controller::run) gives up: 2 minutes if this is not said.
    pub fn sync_timeout(mut self, limit: Duration) -> Self {
        self.limits.sync = limit;
        self
    }

    /// How long what is at work at a stop may go on before it is cancelled: 30 seconds if this is not said.
    pub fn grace_period(mut self, grace: Duration) -> Self {
        self.limits.grace = grace;
        self
    }

    /// How long keys that failed wait. If this is not said, from 5 ms, twice as long each time, to 1000 s: each key by its own
    /// failures, and without the limit for all together that a [`WorkQueue`] alone has, as in controller-runtime.
    pub fn rate_limiter(mut self, rate_limiter: impl RateLimiter<ObjectKey> + 'static) -> Self {
        self.rate_limiter = Box::new(rate_limiter);
        self
    }

    /// Where its measurements and those of its queue go; nowhere if this is not said.
    pub fn metrics(mut self, metrics: Arc<dyn Metrics>) -> Self {
        self.metrics = metrics;
        self
    }

    /// Has [`run`](Controller::run) start the informers of this factory. Without it somebody else does.
    pub fn starting(mut self, factory: &InformerFactory) -> Self {
        self.factory = Some(factory.clone());
        self
    }

    /// The controller. From now on its queue fills, as far as its informers run.
    pub fn build(self, reconciler: impl Reconciler) -> Controller {
        let queue = WorkQueue::with_config(Config {
            name: self.name.clone(),
            rate_limiter: self.rate_limiter,
            metrics: Some(Arc::clone(&self.metrics)),
            ..Config::default()
        });
        let measures = Measures::new(self.metrics.as_ref(), &self.name);
        measures.workers(self.workers);
        let watches = self.watches.into_iter().map(|subscribe| subscribe(queue.clone())).collect();
        let workshop = Workshop {
            name: self.name,
            queue,
            reconciler: Box::new(reconciler),
            gates: self.gates,
            time_limit: self.time_limit,
            measures,
            at_work: Mutex::default(),
        };
        Controller {
            workshop: Arc::new(workshop),
            watches,
            workers: self.workers,
            limits: self.limits,
            factory: self.factory,
        }
    }
}
