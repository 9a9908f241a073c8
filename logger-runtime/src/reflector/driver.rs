//! Executes the steps of the state machine and converts the results to events.

use std::sync::Arc;

use futures::{StreamExt, stream::BoxStream};
use kube::Api;
use tokio::time::{Instant, sleep, timeout};

use super::{
    Event,
    config::{Config, InitialListStrategy},
    deadline_timer::DeadlineTimer,
    failure::{Failure, ReflectorError},
    list_buffer::ListBuffer,
    list_options::ListOptions,
    list_watch::{ListMeta, ListWatch, WatchEvent},
    metrics::ReflectorMetrics,
    state_machine::{EventType, Handling, Policy, StateMachine, Step},
};
use crate::{
    decode::ManagedFields,
    error::Error,
    metrics::{MetricsProvider, NoopMetrics},
    object::{ApiObject, ResourceVersion, resource_name},
};

/// A running reflector. Dropping it cancels its request.
pub(super) struct Driver<K> {
    list_watch: ListWatch<K>,
    config: Config<K>,
    machine: StateMachine,
    timer: DeadlineTimer,
    namespace: Option<String>,
    watch: Option<Watch<K>>,
    buffer: ListBuffer<K>,
    list_started: Instant,
    metrics: ReflectorMetrics,
    has_logged_sharding: bool,
}

struct Watch<K> {
    events: BoxStream<'static, Result<WatchEvent<K>, kube::Error>>,
    started: Instant,
    event_count: usize,
}

type Item<K> = Result<Event<K>, Error>;

impl<K: ApiObject> Driver<K> {
    pub(super) fn new(api: Api<K>, config: Config<K>) -> Self {
        let now = Instant::now();
        let policy = Policy {
            page_size: config.page_size,
            watch_list: config.initial_list_strategy == InitialListStrategy::WatchList,
            watch_timeout: config.watch_timeout,
            idle_timeout: config.idle_timeout,
            max_internal_error_retry: config.max_internal_error_retry,
        };
        let managed_fields = if config.keep_managed_fields { ManagedFields::Keep } else { ManagedFields::Drop };
        let provider: &dyn MetricsProvider = config.metrics.as_deref().unwrap_or(&NoopMetrics);
        Driver {
            machine: StateMachine::new(policy, (config.backoff)(), fastrand::Rng::new(), now),
            namespace: api.namespace().map(str::to_owned),
            list_watch: ListWatch::new(api).managed_fields(managed_fields),
            metrics: ReflectorMetrics::new(provider, &resource_name::<K>()),
            config,
            timer: DeadlineTimer::default(),
            watch: None,
            buffer: ListBuffer::default(),
            list_started: now,
            has_logged_sharding: false,
        }
    }

    /// Returns the next event or error.
    pub(super) async fn next(&mut self) -> Item<K> {
        loop {
            let item = match self.watch.take() {
                Some(watch) => self.next_event(watch).await,
                None => self.next_step().await,
            };
            if let Some(item) = item {
                return item;
            }
        }
    }

    async fn next_step(&mut self) -> Option<Item<K>> {
        match self.machine.next(Instant::now()) {
            Step::Wait(wait) => {
                sleep(wait).await;
                None
            }
            Step::List(options) => self.list(options).await,
            Step::Watch(options) => self.start_watch(options).await,
        }
    }

    async fn list(&mut self, options: ListOptions) -> Option<Item<K>> {
        if options.continue_token.is_none() {
            self.buffer.take();
            self.list_started = Instant::now();
        }
        let options = self.config.list_options(options);
        let Driver { list_watch, config, buffer, .. } = self;
        let list_timeout = config.list_timeout;
        let list = list_watch.list(&options, |object| {
            if config.is_selected(&object) {
                buffer.push(config.reuse_or_prepare(object));
            }
        });
        let timed_out = |_| Err(ReflectorError::ListTimeout(list_timeout).into());
        match timeout(list_timeout, list).await.unwrap_or_else(timed_out) {
            Ok(meta) => self.page_received(meta),
            Err(error) => {
                self.buffer.take();
                self.machine.list_failed(Instant::now(), Failure::classify(&error));
                Some(Err(self.request_error("list", error)))
            }
        }
    }

    fn page_received(&mut self, meta: ListMeta) -> Option<Item<K>> {
        if self.config.shard.is_some() && !meta.sharded && !self.has_logged_sharding {
            self.has_logged_sharding = true;
            let resource = resource_name::<K>();
            tracing::info!(resource, "the server does not support sharding: the client filters the objects");
        }
        let is_complete = self.machine.page_received(Instant::now(), &meta.resource_version, meta.continue_token);
        is_complete.then(|| {
            self.metrics.list_completed(self.list_started.elapsed(), self.buffer.len());
            Ok(self.replaced(ResourceVersion::new(&meta.resource_version)))
        })
    }

    fn replaced(&mut self, version: ResourceVersion) -> Event<K> {
        self.metrics.set_version(&version);
        Event::Replaced { objects: self.buffer.take(), version }
    }

    async fn start_watch(&mut self, options: ListOptions) -> Option<Item<K>> {
        let started = Instant::now();
        self.buffer.take();
        let options = self.config.list_options(options);
        match self.timer.timeout_at(self.machine.watch_deadline(), self.list_watch.watch(&options)).await {
            Some(Ok(events)) => {
                self.machine.watch_started(Instant::now());
                self.watch = Some(Watch { events: events.boxed(), started, event_count: 0 });
                None
            }
            Some(Err(error)) => Some(Err(self.watch_failed(error))),
            None => self.watch_timed_out(),
        }
    }

    async fn next_event(&mut self, mut watch: Watch<K>) -> Option<Item<K>> {
        match self.timer.timeout_at(self.machine.watch_deadline(), watch.events.next()).await {
            Some(Some(Ok(event))) => {
                watch.event_count += 1;
                match self.handle_event(event) {
                    Ok(event) => {
                        self.watch = Some(watch);
                        event.map(Ok)
                    }
                    Err(error) => Some(Err(self.end_watch(&watch, |driver| driver.watch_failed(error)))),
                }
            }
            Some(Some(Err(error))) => Some(Err(self.end_watch(&watch, |driver| driver.watch_failed(error)))),
            Some(None) => self.end_watch(&watch, Self::watch_ended),
            None => self.end_watch(&watch, Self::watch_timed_out),
        }
    }

    /// Records the metrics of a watch that ended.
    fn end_watch<T>(&mut self, watch: &Watch<K>, then: impl FnOnce(&mut Self) -> T) -> T {
        self.metrics.watch_ended(watch.started.elapsed(), watch.event_count);
        then(self)
    }

    fn watch_ended(&mut self) -> Option<Item<K>> {
        let error = self.machine.watch_ended(Instant::now())?;
        if matches!(error, ReflectorError::VeryShortWatch) {
            self.metrics.short_watch();
        }
        Some(Err(self.request_error("watch", error.into())))
    }

    fn watch_timed_out(&mut self) -> Option<Item<K>> {
        let error = self.machine.watch_timed_out(Instant::now())?;
        Some(Err(self.request_error("watch", error.into())))
    }

    fn watch_failed(&mut self, error: kube::Error) -> Error {
        self.buffer.take();
        self.machine.watch_failed(Instant::now(), Failure::classify(&error));
        self.request_error("watch", error)
    }

    fn request_error(&self, verb: &'static str, error: kube::Error) -> Error {
        Error::new(verb, resource_name::<K>(), "", error).with_namespace(self.namespace.as_deref())
    }

    fn handle_event(&mut self, event: WatchEvent<K>) -> Result<Option<Event<K>>, kube::Error> {
        Ok(match event {
            WatchEvent::Added(object, version) => self.object_event(EventType::Added, object, version),
            WatchEvent::Modified(object, version) => self.object_event(EventType::Modified, object, version),
            WatchEvent::Deleted(object, version) => self.object_event(EventType::Deleted, object, version),
            WatchEvent::Bookmark { version, initial_events_end } => self.bookmark(version, initial_events_end),
            WatchEvent::Error(status) => return Err(kube::Error::Api(status)),
            WatchEvent::Unknown(kind) => {
                tracing::warn!(resource = resource_name::<K>(), kind, "skipped an event of an unknown type");
                self.machine.event_received(Instant::now(), EventType::Unknown, "");
                None
            }
        })
    }

    fn object_event(&mut self, event: EventType, object: K, version: ResourceVersion) -> Option<Event<K>> {
        let handling = self.machine.event_received(Instant::now(), event, version.as_str());
        let is_selected = self.config.is_selected(&object);
        match (handling, event) {
            (Handling::Buffer, _) if !is_selected => None,
            (Handling::Buffer, EventType::Deleted) => {
                self.buffer.remove(&object);
                None
            }
            (Handling::Buffer, event) => {
                let object = self.config.reuse_or_prepare(object);
                match event {
                    EventType::Added => self.buffer.push(object),
                    _ => self.buffer.upsert(object),
                }
                None
            }
            (Handling::Apply, event) => {
                self.metrics.set_version(&version);
                Some(match event {
                    _ if !is_selected => Event::Bookmark { version },
                    EventType::Deleted => Event::Deleted { object: self.config.prepare(object), version },
                    _ => Event::Applied { object: self.config.prepare(object), version },
                })
            }
            (Handling::Replace | Handling::Ignore, _) => None,
        }
    }

    fn bookmark(&mut self, version: ResourceVersion, initial_events_end: bool) -> Option<Event<K>> {
        let event = EventType::Bookmark { initial_events_end };
        match self.machine.event_received(Instant::now(), event, version.as_str()) {
            Handling::Replace => Some(self.replaced(version)),
            Handling::Apply => {
                self.metrics.set_version(&version);
                Some(Event::Bookmark { version })
            }
            Handling::Buffer | Handling::Ignore => None,
        }
    }
}

impl<K: ApiObject> Config<K> {
    fn is_selected(&self, object: &K) -> bool {
        self.shard.as_ref().is_none_or(|shard| shard.contains(object.meta()))
    }

    /// Returns the known object if it has the same version, or prepares this one.
    fn reuse_or_prepare(&self, object: K) -> Arc<K> {
        self.reused(&object).unwrap_or_else(|| self.prepare(object))
    }

    fn reused(&self, object: &K) -> Option<Arc<K>> {
        let meta = object.meta();
        let (name, version) = (meta.name.as_deref()?, meta.resource_version.as_deref()?);
        self.reuse.as_ref()?(meta.namespace.as_deref().unwrap_or_default(), name, version)
    }

    /// Drops the managed fields and applies the transform.
    fn prepare(&self, mut object: K) -> Arc<K> {
        if !self.keep_managed_fields {
            object.meta_mut().managed_fields = None;
        }
        if let Some(transform) = &self.transform {
            transform(&mut object);
        }
        Arc::new(object)
    }
}
