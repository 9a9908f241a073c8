//! Executes the steps of the state machine and converts the results to events.

mod absence;
mod comparison;
mod selected;

use std::collections::VecDeque;

use futures::{StreamExt, stream::BoxStream};
use kube::Api;
use tokio::time::{Instant, sleep, timeout};

use super::{
    ObjectEvent, StoredEvent,
    activity::ActivityGuard,
    config::{Config, DecodeErrorPolicy, InitialListStrategy},
    deadline_timer::DeadlineTimer,
    failure::{self, Failure, ReflectorError},
    list_buffer::ListBuffer,
    list_options::ListOptions,
    list_watch::{ListMeta, ListWatch, WatchEvent},
    metrics::{self, ReflectorMetrics},
    selection::Selection,
    state_machine::{EventType, Handling, Policy, StateMachine, Step},
};
use crate::{
    decode::{ChangeType, ManagedFields, SkippedObject},
    error::{Error, SkippedObjects},
    memory::Stored,
    object::{ApiObject, ObjectKey, ResourceVersion, resource_name},
};

/// The maximum number of skipped objects of one list that are reported one by one.
const MAX_REPORTS: usize = 10;

/// A running reflector. Dropping it cancels its request.
pub(super) struct Driver<K> {
    list_watch: ListWatch<K>,
    config: Config<K>,
    /// Taken while it waits for a request.
    selection: Option<Selection>,
    machine: StateMachine,
    timer: DeadlineTimer,
    namespace: Option<String>,
    watch: Option<Watch<K>>,
    buffer: ListBuffer<K>,
    /// The objects that the current list skips.
    list_skipped: SkippedObjects,
    /// The errors of skipped objects that are not reported yet.
    reports: VecDeque<Error>,
    list_started: Instant,
    metrics: ReflectorMetrics,
    activity: ActivityGuard,
    has_logged_sharding: bool,
    /// Whether the last event was that the optional kind is not served.
    is_absent: bool,
    /// When the first of the latest requests failed with 404, of an optional kind.
    not_found_since: Option<Instant>,
}

struct Watch<K> {
    events: BoxStream<'static, Result<WatchEvent<K>, kube::Error>>,
    started: Instant,
    event_count: usize,
}

type Item<K> = Result<StoredEvent<K>, Error>;

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
        let metrics = config.metrics.clone().unwrap_or_default();
        let failing = metrics::failing(&metrics, &resource_name::<K>(), api.namespace());
        Driver {
            machine: StateMachine::new(policy, (config.backoff)(), fastrand::Rng::new(), now),
            namespace: api.namespace().map(str::to_owned),
            list_watch: ListWatch::new(api).managed_fields(managed_fields),
            metrics: ReflectorMetrics::new(&metrics, &resource_name::<K>()),
            activity: config.activity.start(config.watch_timeout.1.max(config.list_timeout), failing),
            selection: config.sharding.as_ref().map(Selection::new),
            config,
            timer: DeadlineTimer::default(),
            watch: None,
            buffer: ListBuffer::default(),
            list_skipped: SkippedObjects::default(),
            reports: VecDeque::new(),
            list_started: now,
            has_logged_sharding: false,
            is_absent: false,
            not_found_since: None,
        }
    }

    /// Returns the next event or error.
    pub(super) async fn next(&mut self) -> Item<K> {
        self.selection.iter_mut().for_each(Selection::applied);
        loop {
            if let Some(error) = self.reports.pop_front() {
                return Err(error);
            }
            let item = match self.selection.take() {
                Some(mut selection) => {
                    let item = self.next_selected(&mut selection).await;
                    self.selection = Some(selection);
                    item
                }
                None => self.request().await,
            };
            if let Some(item) = item {
                return item;
            }
        }
    }

    async fn request(&mut self) -> Option<Item<K>> {
        match self.watch.take() {
            Some(watch) => self.next_event(watch).await,
            None => self.next_step().await,
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
            Step::Compare(options) => self.compare(options).await,
        }
    }

    async fn list(&mut self, options: ListOptions) -> Option<Item<K>> {
        if options.continue_token.is_none() {
            self.clear_buffer();
            self.list_started = Instant::now();
        }
        let options = match self.config.list_options(options) {
            Ok(options) => options,
            Err(panicked) => return Some(Err(self.list_failed(kube::Error::Service(Box::new(panicked))))),
        };
        // An object in the same version can have changed if the versions went back.
        let can_reuse = !self.machine.may_go_back();
        let Driver { list_watch, config, buffer, list_skipped, activity, .. } = self;
        let list_timeout = config.list_timeout;
        let list = list_watch.list(&options, |object, text| {
            let prepare = |config: &Config<K>, object| config.prepare_listed(object, Some(text), can_reuse);
            match object.and_then(|object| config.select(object, prepare)) {
                Ok(object) => object.into_iter().for_each(|object| buffer.push(object)),
                Err(skipped) => config.skip_listed(*skipped, buffer, list_skipped)?,
            }
            activity.listed(buffer.len());
            Ok(())
        });
        let timed_out = |_| Err(ReflectorError::ListTimeout(list_timeout).into());
        match timeout(list_timeout, list).await.unwrap_or_else(timed_out) {
            Ok(meta) => {
                self.activity.succeeded();
                self.not_found_since = None;
                self.page_received(meta)
            }
            Err(error) => {
                let is_absent = self.is_absent_kind(&error).await;
                let error = self.list_failed(error);
                self.absent_or_failed(is_absent, error)
            }
        }
    }

    fn list_failed(&mut self, error: kube::Error) -> Error {
        self.record_failure(&error);
        self.clear_buffer();
        self.machine.list_failed(Instant::now(), Failure::classify(&error));
        self.request_error("list", error)
    }

    fn clear_buffer(&mut self) {
        self.buffer.take();
        self.list_skipped = SkippedObjects::default();
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

    fn replaced(&mut self, version: ResourceVersion) -> StoredEvent<K> {
        self.is_absent = false;
        self.metrics.set_version(&version);
        self.report_list_skipped();
        ObjectEvent::Replaced { objects: self.buffer.take(), version }
    }

    /// Publishes the objects that the list skipped, in place of those of earlier lists.
    fn report_list_skipped(&mut self) {
        let skipped = std::mem::take(&mut self.list_skipped);
        let is_changed = self.config.skipped.clear(self.namespace.as_deref()) || skipped.len() > 0;
        for error in skipped.errors().into_iter().take(MAX_REPORTS) {
            let error = self.request_error("list", kube::Error::Service(Box::new(error)));
            self.reports.push_back(error);
        }
        self.config.skipped.append(skipped, || self.metrics.object_error());
        if is_changed {
            self.metrics.set_skipped(self.config.skipped.len());
        }
    }

    async fn start_watch(&mut self, options: ListOptions) -> Option<Item<K>> {
        let started = Instant::now();
        self.clear_buffer();
        let options = match self.config.list_options(options) {
            Ok(options) => options,
            Err(panicked) => return Some(Err(self.watch_failed(kube::Error::Service(Box::new(panicked))))),
        };
        match self.timer.timeout_at(self.machine.watch_deadline(), self.list_watch.watch(&options)).await {
            Some(Ok(events)) => {
                self.activity.succeeded();
                self.not_found_since = None;
                self.machine.watch_started(Instant::now());
                self.watch = Some(Watch { events: events.boxed(), started, event_count: 0 });
                None
            }
            Some(Err(error)) => {
                let is_absent = self.is_absent_kind(&error).await;
                let error = self.watch_failed(error);
                self.absent_or_failed(is_absent, error)
            }
            None => self.watch_timed_out(),
        }
    }

    async fn next_event(&mut self, mut watch: Watch<K>) -> Option<Item<K>> {
        match self.timer.timeout_at(self.machine.watch_deadline(), watch.events.next()).await {
            Some(Some(Ok(event))) => {
                watch.event_count += 1;
                self.activity.succeeded();
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
        self.activity.responded();
        let error = self.machine.watch_ended(Instant::now())?;
        self.activity.failed();
        if matches!(error, ReflectorError::VeryShortWatch) {
            self.metrics.short_watch();
        }
        Some(Err(self.request_error("watch", error.into())))
    }

    fn watch_timed_out(&mut self) -> Option<Item<K>> {
        let error = self.machine.watch_timed_out(Instant::now())?;
        self.activity.failed();
        Some(Err(self.request_error("watch", error.into())))
    }

    fn watch_failed(&mut self, error: kube::Error) -> Error {
        self.record_failure(&error);
        self.clear_buffer();
        self.machine.watch_failed(Instant::now(), Failure::classify(&error));
        self.request_error("watch", error)
    }

    fn record_failure(&self, error: &kube::Error) {
        self.activity.failed();
        if failure::is_response(error) {
            self.activity.responded();
        }
    }

    fn request_error(&self, verb: &'static str, error: kube::Error) -> Error {
        Error::new(verb, resource_name::<K>(), "", error).with_namespace(self.namespace.as_deref())
    }

    fn handle_event(&mut self, event: WatchEvent<K>) -> Result<Option<StoredEvent<K>>, kube::Error> {
        match event {
            WatchEvent::Added(object, version) => self.object_event(EventType::Added, object, version),
            WatchEvent::Modified(object, version) => self.object_event(EventType::Modified, object, version),
            WatchEvent::Deleted(object, version) => self.object_event(EventType::Deleted, object, version),
            WatchEvent::Bookmark { version, initial_events_end } => self.bookmark(version, initial_events_end),
            WatchEvent::Skipped(change, skipped) => self.skipped_event(change.into(), *skipped),
            WatchEvent::Error(status) => Err(kube::Error::Api(status)),
            WatchEvent::Unknown(kind) => {
                tracing::warn!(resource = resource_name::<K>(), kind, "skipped an event of an unknown type");
                self.event_received(EventType::Unknown, &ResourceVersion::new(""))?;
                Ok(None)
            }
        }
    }

    /// Advances the state machine.
    ///
    /// # Errors
    /// Fails if the versions of the server went back.
    fn event_received(&mut self, event: EventType, version: &ResourceVersion) -> Result<Handling, kube::Error> {
        if self.machine.goes_back(event, version.as_str()) {
            return Err(ReflectorError::WentBack.into());
        }
        let handling = self.machine.event_received(Instant::now(), event, version.as_str());
        if handling == Handling::Apply {
            self.metrics.set_version(version);
        }
        Ok(handling)
    }

    fn object_event(
        &mut self,
        event: EventType,
        object: K,
        version: ResourceVersion,
    ) -> Result<Option<StoredEvent<K>>, kube::Error> {
        let is_streamed = self.machine.is_streaming();
        if is_streamed && event == EventType::Deleted {
            self.event_received(event, &version)?;
            self.remove_streamed(&ObjectKey::from_object(&object));
            return Ok(None);
        }
        let can_reuse = !self.machine.may_go_back();
        let prepare = |config: &Config<K>, object| match event {
            _ if is_streamed => config.prepare_listed(object, None, can_reuse),
            EventType::Deleted => config.prepare_deleted(object),
            _ => config.prepare_changed(object),
        };
        match self.config.select(object, prepare) {
            Ok(Some(object)) => self.selected_event(event, object, version),
            Ok(None) => {
                let handling = self.event_received(event, &version)?;
                Ok((handling == Handling::Apply).then_some(ObjectEvent::Bookmark { version }))
            }
            // The transform may have changed the version.
            Err(skipped) => self.skipped_event(event, SkippedObject { version, ..*skipped }),
        }
    }

    fn selected_event(
        &mut self,
        event: EventType,
        object: Stored<K>,
        version: ResourceVersion,
    ) -> Result<Option<StoredEvent<K>>, kube::Error> {
        let handling = self.event_received(event, &version)?;
        let skipped = if handling == Handling::Buffer { &self.list_skipped } else { &self.config.skipped };
        if skipped.remove(|| object.object_key()) {
            self.metrics.set_skipped(self.config.skipped.len());
        }
        match (handling, event) {
            (Handling::Buffer, EventType::Added) => self.buffer.push(object),
            (Handling::Buffer, _) => self.buffer.upsert(object),
            (Handling::Apply, EventType::Deleted) => return Ok(Some(ObjectEvent::Deleted { object, version })),
            (Handling::Apply, _) => return Ok(Some(ObjectEvent::Applied { object, version })),
            (Handling::Replace | Handling::Ignore, _) => {}
        }
        self.activity.listed(self.buffer.len());
        Ok(None)
    }

    fn remove_streamed(&mut self, key: &ObjectKey) {
        self.buffer.remove(key);
        self.list_skipped.remove(|| key.clone());
    }

    /// Handles a change of an object that is skipped. Its last known state remains until the object is deleted.
    fn skipped_event(
        &mut self,
        event: EventType,
        skipped: SkippedObject,
    ) -> Result<Option<StoredEvent<K>>, kube::Error> {
        let is_selected = self.config.is_selected(&skipped.metadata());
        let is_deleted = event == EventType::Deleted;
        if is_selected && !is_deleted && self.config.decode_error_policy == DecodeErrorPolicy::Fail {
            return Err(kube::Error::Service(Box::new(skipped.error)));
        }
        let version = skipped.version.clone();
        match self.event_received(event, &version)? {
            Handling::Buffer if is_deleted => self.remove_streamed(&skipped.key),
            Handling::Buffer if is_selected => self.skip_streamed(skipped),
            Handling::Apply if is_selected => {
                let removed = self.skip(is_deleted, skipped);
                let event = removed.map(|object| ObjectEvent::Deleted { object, version: version.clone() });
                return Ok(Some(event.unwrap_or(ObjectEvent::Bookmark { version })));
            }
            Handling::Apply => return Ok(Some(ObjectEvent::Bookmark { version })),
            Handling::Buffer | Handling::Replace | Handling::Ignore => {}
        }
        Ok(None)
    }

    fn skip_streamed(&mut self, skipped: SkippedObject) {
        let known = self.config.last_known_state(&skipped.key).filter(|known| skipped.is_same(known.uid()));
        known.into_iter().for_each(|known| self.buffer.add_last_known(known));
        self.list_skipped.insert(skipped.key, skipped.error);
    }

    /// Records or, if it was deleted, removes a skipped object. Returns its last known state if that no longer exists.
    fn skip(&mut self, is_deleted: bool, skipped: SkippedObject) -> Option<Stored<K>> {
        let known = self.config.last_known_state(&skipped.key);
        let removed = known.filter(|known| is_deleted || !skipped.is_same(known.uid()));
        if is_deleted {
            self.config.skipped.remove(|| skipped.key);
        } else {
            let error = kube::Error::Service(Box::new(skipped.error.clone()));
            self.reports.push_back(self.request_error("watch", error));
            self.config.skipped.insert(skipped.key, skipped.error);
            self.metrics.object_error();
        }
        self.metrics.set_skipped(self.config.skipped.len());
        removed
    }

    fn bookmark(
        &mut self,
        version: ResourceVersion,
        initial_events_end: bool,
    ) -> Result<Option<StoredEvent<K>>, kube::Error> {
        let event = EventType::Bookmark { initial_events_end };
        Ok(match self.event_received(event, &version)? {
            Handling::Replace => Some(self.replaced(version)),
            Handling::Apply => Some(ObjectEvent::Bookmark { version }),
            Handling::Buffer | Handling::Ignore => None,
        })
    }
}

impl From<ChangeType> for EventType {
    fn from(change: ChangeType) -> Self {
        match change {
            ChangeType::Added => EventType::Added,
            ChangeType::Modified => EventType::Modified,
            ChangeType::Deleted => EventType::Deleted,
        }
    }
}
