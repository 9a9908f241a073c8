//! Does what the machine says, and tells what comes of it.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;
use kube::Api;
use tokio::time::{Instant, sleep, timeout};

use super::Event;
use super::alarm::Alarm;
use super::collected::Collected;
use super::config::{Config, InitialSync};
use super::failure::{Failure, Silence};
use super::machine::{Do, Machine, Meaning, Rules, Told};
use super::measured::Measured;
use super::options::ListOptions;
use super::wire::{ListMeta, WatchEvent, Wire};
use crate::decode::ManagedFields;
use crate::error::Error;
use crate::object::{ApiObject, resource};
use crate::version::ResourceVersion;

/// A reflector at work. Dropping it ends the request it is in.
pub(super) struct Run<K> {
    wire: Wire<K>,
    config: Config<K>,
    machine: Machine,
    alarm: Alarm,
    namespace: Option<String>,
    watch: Option<Watch<K>>,
    collected: Collected<K>,
    list_began: Instant,
    measured: Measured,
    told_of_shards: bool,
}

struct Watch<K> {
    events: BoxStream<'static, Result<WatchEvent<K>, kube::Error>>,
    began: Instant,
    count: usize,
}

type Item<K> = Result<Event<K>, Error>;

impl<K: ApiObject> Run<K> {
    pub(super) fn new(api: Api<K>, config: Config<K>) -> Self {
        let now = Instant::now();
        let rules = Rules {
            page_size: config.page_size,
            watch_list: config.initial_sync == InitialSync::WatchList,
            watch_timeout: config.watch_timeout,
            idle_timeout: config.idle_timeout,
            internal_retry: config.internal_retry,
        };
        let managed_fields = if config.managed_fields { ManagedFields::Kept } else { ManagedFields::Dropped };
        Run {
            machine: Machine::new(rules, (config.backoff)(), fastrand::Rng::new(), now),
            namespace: api.namespace().map(str::to_owned),
            wire: Wire::new(api).managed_fields(managed_fields),
            measured: Measured::new(&*config.metrics, &resource::<K>()),
            config,
            alarm: Alarm::default(),
            watch: None,
            collected: Collected::default(),
            list_began: now,
            told_of_shards: false,
        }
    }

    /// What happens next.
    pub(super) async fn next(&mut self) -> Item<K> {
        loop {
            let item = match self.watch.take() {
                Some(watch) => self.listen(watch).await,
                None => self.proceed().await,
            };
            if let Some(item) = item {
                return item;
            }
        }
    }

    async fn proceed(&mut self) -> Option<Item<K>> {
        match self.machine.next(Instant::now()) {
            Do::Wait(wait) => {
                sleep(wait).await;
                None
            }
            Do::List(options) => self.list(options).await,
            Do::Watch(options) => self.begin_watch(options).await,
        }
    }

    async fn list(&mut self, options: ListOptions) -> Option<Item<K>> {
        if options.continue_token.is_none() {
            self.collected.take();
            self.list_began = Instant::now();
        }
        let options = self.config.select(options);
        let Run { wire, config, collected, .. } = self;
        let limit = config.list_timeout;
        let listed = wire.list(&options, |object| {
            if config.is_selected(&object) {
                collected.add(config.kept(object));
            }
        });
        match timeout(limit, listed).await.unwrap_or_else(|_| Err(Silence::Late(limit).into())) {
            Ok(meta) => self.listed(meta),
            Err(error) => {
                self.collected.take();
                self.machine.list_failed(Instant::now(), Failure::of(&error));
                Some(Err(self.failed("list", error)))
            }
        }
    }

    fn listed(&mut self, meta: ListMeta) -> Option<Item<K>> {
        if self.config.shard.is_some() && !meta.sharded && !self.told_of_shards {
            self.told_of_shards = true;
            tracing::info!(resource = resource::<K>(), "the server knows no shards: objects are selected here");
        }
        let complete = self.machine.page(Instant::now(), &meta.version, meta.continue_token);
        complete.then(|| {
            self.measured.listed(self.list_began.elapsed(), self.collected.len());
            Ok(self.replaced(ResourceVersion::new(&meta.version)))
        })
    }

    fn replaced(&mut self, version: ResourceVersion) -> Event<K> {
        self.measured.version(&version);
        Event::Replaced { objects: self.collected.take(), version }
    }

    async fn begin_watch(&mut self, options: ListOptions) -> Option<Item<K>> {
        let began = Instant::now();
        self.collected.take();
        let options = self.config.select(options);
        match self.alarm.within(self.machine.deadline(), self.wire.watch(&options)).await {
            Some(Ok(events)) => {
                self.machine.watching(Instant::now());
                self.watch = Some(Watch { events: events.boxed(), began, count: 0 });
                None
            }
            Some(Err(error)) => Some(Err(self.watch_failed(error))),
            None => self.silent(),
        }
    }

    async fn listen(&mut self, mut watch: Watch<K>) -> Option<Item<K>> {
        match self.alarm.within(self.machine.deadline(), watch.events.next()).await {
            Some(Some(Ok(event))) => {
                watch.count += 1;
                match self.heard(event) {
                    Ok(event) => {
                        self.watch = Some(watch);
                        event.map(Ok)
                    }
                    Err(error) => Some(Err(self.after(&watch, |run| run.watch_failed(error)))),
                }
            }
            Some(Some(Err(error))) => Some(Err(self.after(&watch, |run| run.watch_failed(error)))),
            Some(None) => self.after(&watch, Self::ended),
            None => self.after(&watch, Self::silent),
        }
    }

    /// Counts a watch that is over.
    fn after<T>(&mut self, watch: &Watch<K>, then: impl FnOnce(&mut Self) -> T) -> T {
        self.measured.watched(watch.began.elapsed(), watch.count);
        then(self)
    }

    fn ended(&mut self) -> Option<Item<K>> {
        let silence = self.machine.watch_ended(Instant::now())?;
        if matches!(silence, Silence::Short) {
            self.measured.short_watch();
        }
        Some(Err(self.failed("watch", silence.into())))
    }

    fn silent(&mut self) -> Option<Item<K>> {
        let silence = self.machine.silent(Instant::now())?;
        Some(Err(self.failed("watch", silence.into())))
    }

    fn watch_failed(&mut self, error: kube::Error) -> Error {
        self.collected.take();
        self.machine.watch_failed(Instant::now(), Failure::of(&error));
        self.failed("watch", error)
    }

    fn failed(&self, verb: &'static str, error: kube::Error) -> Error {
        Error::new(verb, resource::<K>(), "", error).in_namespace(self.namespace.as_deref())
    }

    fn heard(&mut self, event: WatchEvent<K>) -> Result<Option<Event<K>>, kube::Error> {
        Ok(match event {
            WatchEvent::Added(object, version) => self.changed(Told::Added, object, version),
            WatchEvent::Modified(object, version) => self.changed(Told::Modified, object, version),
            WatchEvent::Deleted(object, version) => self.changed(Told::Deleted, object, version),
            WatchEvent::Bookmark { version, ends_initial_events } => self.bookmarked(version, ends_initial_events),
            WatchEvent::Error(status) => return Err(kube::Error::Api(status)),
            WatchEvent::Unknown(kind) => {
                tracing::warn!(resource = resource::<K>(), kind, "an event of a type that is not known is skipped");
                self.machine.event(Instant::now(), Told::Unknown, "");
                None
            }
        })
    }

    fn changed(&mut self, told: Told, object: K, version: ResourceVersion) -> Option<Event<K>> {
        let meaning = self.machine.event(Instant::now(), told, version.as_str());
        let selected = self.config.is_selected(&object);
        match (meaning, told) {
            (Meaning::Collect, _) if !selected => None,
            (Meaning::Collect, Told::Deleted) => {
                self.collected.remove(&object);
                None
            }
            (Meaning::Collect, told) => {
                let object = self.config.kept(object);
                if told == Told::Added {
                    self.collected.add(object)
                } else {
                    self.collected.put(object)
                }
                None
            }
            (Meaning::Change, told) => {
                self.measured.version(&version);
                Some(match told {
                    _ if !selected => Event::Bookmark { version },
                    Told::Deleted => Event::Deleted { object: self.config.kept_as_it_came(object), version },
                    _ => Event::Applied { object: self.config.kept_as_it_came(object), version },
                })
            }
            (Meaning::Complete | Meaning::Nothing, _) => None,
        }
    }

    fn bookmarked(&mut self, version: ResourceVersion, ends_initial_events: bool) -> Option<Event<K>> {
        let told = Told::Bookmark { ends_initial_events };
        match self.machine.event(Instant::now(), told, version.as_str()) {
            Meaning::Complete => Some(self.replaced(version)),
            Meaning::Change => {
                self.measured.version(&version);
                Some(Event::Bookmark { version })
            }
            Meaning::Collect | Meaning::Nothing => None,
        }
    }
}

impl<K: ApiObject> Config<K> {
    fn is_selected(&self, object: &K) -> bool {
        self.shard.as_ref().is_none_or(|shard| shard.contains(object.meta()))
    }

    /// What is told of an object that came among others: the one that is there already, if it is the same.
    fn kept(&self, object: K) -> Arc<K> {
        self.known(&object).unwrap_or_else(|| self.kept_as_it_came(object))
    }

    fn known(&self, object: &K) -> Option<Arc<K>> {
        let meta = object.meta();
        let (name, version) = (meta.name.as_deref()?, meta.resource_version.as_deref()?);
        self.same.as_ref()?(meta.namespace.as_deref().unwrap_or_default(), name, version)
    }

    fn kept_as_it_came(&self, mut object: K) -> Arc<K> {
        if !self.managed_fields {
            object.meta_mut().managed_fields = None;
        }
        if let Some(transform) = &self.transform {
            transform(&mut object);
        }
        Arc::new(object)
    }
}
