//! Distributes the events of an informer to its listeners, like client-go's `sharedProcessor`.

use std::{
    fmt,
    pin::Pin,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    config::{InformerFailed, Stopped},
    event::Event,
    handler_options::ListenerOptions,
    health::Health,
    listener::Listener,
    metrics::{InformerMetrics, MetricsConfig},
    stored::AnyStored,
};
use crate::{
    error::UserCodePanicked,
    metrics::Refresh,
    object::{ObjectKey, ResourceVersion},
};

/// The listeners of an informer, with the kind erased.
pub(super) struct SharedProcessor {
    pub(super) resource: String,
    store: Box<dyn AnyStore>,
    /// Held while the store changes and the events are distributed, so that the replay for a late listener is atomic.
    state: Mutex<State>,
    pub(super) health: Health,
}

/// The store of an informer, with the kind erased.
pub(super) trait AnyStore: Send + Sync {
    fn objects(&self) -> Vec<(ObjectKey, Arc<dyn AnyStored>)>;
    fn resource_version(&self) -> Option<ResourceVersion>;
    /// Marks the store as stopped.
    fn stop(&self);
}

/// Distributes an event of the object with this key.
type Distribute<'a> = &'a mut dyn FnMut(&ObjectKey, Event<dyn AnyStored>);
type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

struct State {
    phase: Phase,
    /// The name of the informer, set when it runs.
    name: String,
    listeners: Vec<Arc<Listener>>,
    /// The number of all listeners so far.
    listener_count: usize,
    default_resync: Option<Duration>,
    /// Set when the informer runs.
    metrics: Option<InformerMetrics>,
    /// The shortest resync period so far. Handlers added to a running informer cannot have a shorter one.
    min_resync: Option<Duration>,
}

enum Phase {
    /// The tasks of handlers wait for the informer to run.
    New(Vec<Task>),
    Running {
        runtime: Handle,
        tasks: TaskTracker,
        cancelled: CancellationToken,
    },
    Stopped,
}

const MIN_RESYNC_PERIOD: Duration = Duration::from_secs(1);

impl SharedProcessor {
    pub(super) fn new(resource: String, store: Box<dyn AnyStore>, default_resync: Option<Duration>) -> Arc<Self> {
        let state = State {
            phase: Phase::New(Vec::new()),
            name: String::new(),
            listeners: Vec::new(),
            listener_count: 0,
            default_resync,
            metrics: None,
            min_resync: None,
        };
        Arc::new(SharedProcessor { resource, store, state: Mutex::new(state), health: Health::default() })
    }

    /// Adds a listener and replays the store to it.
    pub(super) fn add_listener(&self, mut options: ListenerOptions, is_stream: bool) -> Result<Arc<Listener>, Stopped> {
        let mut state = self.state.lock();
        if matches!(state.phase, Phase::Stopped) {
            return Err(Stopped { resource: self.resource.clone() });
        }
        state.listener_count += 1;
        let custom_name = options.name.take();
        let name = custom_name.clone().unwrap_or_else(|| format!("{}-{}", self.resource, state.listener_count));
        options.resync = state.resync_period(options.resync);
        let listener = Listener::new(name, custom_name.is_some(), &options, is_stream);
        state.metrics.iter().for_each(|metrics| listener.set_metrics(metrics));
        for (key, object) in self.store.objects() {
            listener.push(&key, Event::Added { object, initial: true });
        }
        if self.has_synced() {
            listener.initial_list_pushed();
        }
        state.listeners.retain(|listener| !listener.is_closed());
        state.listeners.push(Arc::clone(&listener));
        Ok(listener)
    }

    /// Spawns the task of a listener now, or when the informer runs.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        match &mut self.state.lock().phase {
            Phase::New(waiting) => waiting.push(Box::pin(task)),
            Phase::Running { runtime, tasks, .. } => drop(tasks.spawn_on(task, runtime)),
            Phase::Stopped => {}
        }
    }

    /// Runs the tasks of the listeners and returns them. Cancels `cancelled` if a handler aborts the informer. Returns
    /// `None` if it was started before.
    pub(super) fn start(
        self: &Arc<Self>,
        name: String,
        cancelled: CancellationToken,
        metrics: Option<MetricsConfig>,
    ) -> Option<TaskTracker> {
        let metrics = metrics.map(InformerMetrics::new);
        let this: Weak<dyn Refresh> = Arc::<Self>::downgrade(self);
        metrics.iter().for_each(|metrics| metrics.metrics().register_refresh(Weak::clone(&this)));
        let mut state = self.state.lock();
        metrics.iter().for_each(|metrics| state.listeners.iter().for_each(|listener| listener.set_metrics(metrics)));
        (state.metrics, state.name) = (metrics, name);
        let Phase::New(waiting) = &mut state.phase else { return None };
        let (runtime, tasks) = (Handle::current(), TaskTracker::new());
        waiting.drain(..).for_each(|task| drop(tasks.spawn_on(task, &runtime)));
        state.phase = Phase::Running { runtime, tasks: tasks.clone(), cancelled };
        Some(tasks)
    }

    /// Changes the store and distributes the changes to every listener.
    pub(super) fn distribute(&self, change: impl FnOnce(Distribute<'_>)) {
        let state = self.state.lock();
        let start = state.metrics.as_ref().map(|_| Instant::now());
        change(&mut |key, event| {
            state.listeners.iter().for_each(|listener| listener.push(key, event.clone()));
        });
        if let (Some(start), Some(metrics)) = (start, &state.metrics) {
            metrics.event_processed(start.elapsed());
            state.update_metrics(metrics, self.store.as_ref());
        }
    }

    /// Marks the initial list as stored and distributed.
    pub(super) fn mark_synced(&self) {
        let state = self.state.lock();
        state.listeners.iter().for_each(|listener| listener.initial_list_pushed());
        self.health.mark_synced();
    }

    /// Sends every object to a listener again.
    pub(super) fn resync(&self, listener: &Listener) {
        let _no_change_between = self.state.lock();
        self.push_all(&[listener]);
    }

    /// Sends every object to the listeners with a resync period, after a relist.
    pub(super) fn resync_all(&self) {
        let state = self.state.lock();
        let listeners = state.listeners.iter().map(Arc::as_ref).filter(|listener| listener.resync.is_some());
        self.push_all(&listeners.collect::<Vec<_>>());
    }

    fn push_all(&self, listeners: &[&Listener]) {
        if listeners.is_empty() {
            return;
        }
        for (key, object) in self.store.objects() {
            listeners.iter().for_each(|listener| listener.push_resync(&key, &object));
        }
    }

    /// Reports a panic of user code that was caught: it is logged and counted, and is the last error until the next
    /// event.
    pub(super) fn report_panic(&self, panicked: &UserCodePanicked) {
        tracing::error!(resource = self.resource, error = %panicked, "user code panicked");
        self.health.user_code_panicked(panicked.to_string());
        self.state.lock().metrics.iter().for_each(|metrics| metrics.user_code_panicked());
    }

    /// Stops the informer because it failed.
    pub(super) fn abort(&self, reason: String) {
        self.fail(reason);
        if let Phase::Running { cancelled, .. } = &self.state.lock().phase {
            cancelled.cancel();
        }
    }

    /// Marks the informer as failed.
    pub(super) fn fail(&self, reason: String) {
        let name = self.state.lock().name.clone();
        self.health.fail(InformerFailed { resource: self.resource.clone(), name, reason });
    }

    pub(super) fn has_synced(&self) -> bool {
        self.health.has_synced()
    }

    pub(super) fn set_default_resync(&self, period: Option<Duration>) {
        self.state.lock().default_resync = period;
    }

    /// Returns why the informer distributes nothing; `None` while it runs.
    pub(super) fn idle_reason(&self) -> Option<&'static str> {
        match self.state.lock().phase {
            Phase::New(_) => Some("not started"),
            Phase::Running { .. } => None,
            Phase::Stopped => Some("stopped"),
        }
    }

    /// Closes all listeners and rejects new ones.
    pub(super) fn stop(&self) {
        let (phase, listeners) = {
            let mut state = self.state.lock();
            (std::mem::replace(&mut state.phase, Phase::Stopped), std::mem::take(&mut state.listeners))
        };
        listeners.iter().for_each(|listener| listener.close());
        drop(phase);
        self.health.mark_stopped();
        self.store.stop();
    }
}

impl State {
    fn update_metrics(&self, metrics: &InformerMetrics, store: &dyn AnyStore) {
        let queued = self.listeners.iter().map(|listener| listener.pending()).sum();
        metrics.set_state(queued, store.resource_version().as_ref());
    }

    /// Returns the resync period of a new listener.
    fn resync_period(&mut self, requested: Option<Duration>) -> Option<Duration> {
        let period = requested.or(self.default_resync).filter(|period| !period.is_zero())?.max(MIN_RESYNC_PERIOD);
        match (&self.phase, self.min_resync) {
            (Phase::Running { .. }, Some(min)) => Some(period.max(min)),
            (_, min) => {
                self.min_resync = Some(min.map_or(period, |min| min.min(period)));
                Some(period)
            }
        }
    }
}

/// Updates the number of pending events, which decreases without an event of the informer.
impl Refresh for SharedProcessor {
    fn refresh(&self) {
        let state = self.state.lock();
        state.metrics.iter().for_each(|metrics| state.update_metrics(metrics, self.store.as_ref()));
        state.listeners.iter().for_each(|listener| listener.update_metrics());
    }
}

impl Drop for SharedProcessor {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for SharedProcessor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listeners = &self.state.lock().listeners;
        f.debug_struct("SharedProcessor")
            .field("resource", &self.resource)
            .field("listeners", listeners)
            .finish_non_exhaustive()
    }
}
