//! What a reflector can be told.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::backoff::{Backoff, ExponentialBackoff};
use super::options::ListOptions;
use super::shard::Shard;
use crate::metrics::{Metrics, NoMetrics};

/// How a reflector comes by the objects that are there when it begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InitialSync {
    /// It lists them: in pages or in one answer, compressed where client and server can.
    #[default]
    List,
    /// It has a watch begin with them, which costs the server less memory: KEP-3157, on by default in Kubernetes 1.32 and
    /// since 1.34. It lists them where the server does not do that, and no longer asks then.
    WatchList,
}

type Transform<K> = Arc<dyn Fn(&mut K) + Send + Sync>;
type Tweak = Arc<dyn Fn(&mut ListOptions) + Send + Sync>;
type Same<K> = Arc<dyn Fn(&str, &str, &str) -> Option<Arc<K>> + Send + Sync>;
type MakeBackoff = Arc<dyn Fn() -> Box<dyn Backoff> + Send + Sync>;

/// The options of a reflector. A clone has the same.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use logger_runtime::reflector::Config;
///
/// let config = Config::<Pod>::default()
///     .labels("app=web")
///     .transform(|pod| pod.status = None);
/// ```
pub struct Config<K> {
    pub(super) labels: Option<String>,
    pub(super) fields: Option<String>,
    pub(super) shard: Option<Shard>,
    pub(super) page_size: Option<u32>,
    pub(super) initial_sync: InitialSync,
    pub(super) managed_fields: bool,
    pub(super) transform: Option<Transform<K>>,
    pub(super) same: Option<Same<K>>,
    pub(super) tweak: Option<Tweak>,
    pub(super) watch_timeout: (Duration, Duration),
    pub(super) idle_timeout: Option<Duration>,
    pub(super) list_timeout: Duration,
    pub(super) internal_retry: Duration,
    pub(super) backoff: MakeBackoff,
    pub(super) metrics: Arc<dyn Metrics>,
}

impl<K> Config<K> {
    /// Only objects with these labels, such as `app=web,tier!=cache`. An object that no longer has them is told as deleted.
    #[must_use]
    pub fn labels(mut self, selector: impl Into<String>) -> Self {
        self.labels = Some(selector.into());
        self
    }

    /// Only objects with these fields, such as `metadata.name=audit`; a server knows few of them for each kind.
    #[must_use]
    pub fn fields(mut self, selector: impl Into<String>) -> Self {
        self.fields = Some(selector.into());
        self
    }

    /// Only the objects of this shard, whether the server knows shards or not.
    #[must_use]
    pub fn shard(mut self, shard: Shard) -> Self {
        self.shard = Some(shard);
        self
    }

    /// Has every list come in pages of so many objects.
    ///
    /// Without, a first list asks for pages of 500 and later ones for all: a server answers those from memory, and pages
    /// from etcd. 0 is the same as without.
    #[must_use]
    pub fn page_size(mut self, objects: u32) -> Self {
        self.page_size = Some(objects).filter(|&objects| objects > 0);
        self
    }

    /// How to come by the first objects.
    #[must_use]
    pub fn initial_sync(mut self, how: InitialSync) -> Self {
        self.initial_sync = how;
        self
    }

    /// Keeps `metadata.managedFields`. By default they are dropped: they are often a third of an object, and only
    /// server-side apply reads them, which asks the server itself.
    #[must_use]
    pub fn keep_managed_fields(mut self) -> Self {
        self.managed_fields = true;
        self
    }

    /// Changes each object before anyone has it, as to drop what is not needed. It is called once for each object that
    /// comes from the server; not for one that [`reuse`](Self::reuse) has already. It must leave name, namespace and uid alone.
    #[must_use]
    pub fn transform(mut self, transform: impl Fn(&mut K) + Send + Sync + 'static) -> Self {
        self.transform = Some(Arc::new(transform));
        self
    }

    /// Asks for an object of a namespace (empty for the cluster), name and resourceVersion, to tell that one instead of the
    /// one that came. So what did not change is in memory once while everything is listed again.
    #[must_use]
    pub fn reuse(mut self, same: impl Fn(&str, &str, &str) -> Option<Arc<K>> + Send + Sync + 'static) -> Self {
        self.same = Some(Arc::new(same));
        self
    }

    /// Changes the options of every list and watch before they are sent.
    #[must_use]
    pub fn tweak(mut self, tweak: impl Fn(&mut ListOptions) + Send + Sync + 'static) -> Self {
        self.tweak = Some(Arc::new(tweak));
        self
    }

    /// How long a watch lasts before the server ends it and another follows: by chance between these, in whole seconds, at
    /// least one. 5 to 10 minutes by default; a range the wrong way round is its first time.
    #[must_use]
    pub fn watch_timeout(mut self, shortest: Duration, longest: Duration) -> Self {
        let shortest = shortest.max(Duration::from_secs(1));
        self.watch_timeout = (shortest, longest.max(shortest));
        self
    }

    /// Takes a watch for dead when it told nothing for this time, not even a bookmark.
    ///
    /// By default that is 3 minutes where the server has sent a bookmark: Kubernetes does about each minute. Of a server that
    /// sends none, only the end that it promised is waited for, and half a minute more.
    #[must_use]
    pub fn idle_timeout(mut self, silence: Duration) -> Self {
        self.idle_timeout = Some(silence);
        self
    }

    /// Gives a list up that has not come in this time; 5 minutes by default.
    #[must_use]
    pub fn list_timeout(mut self, timeout: Duration) -> Self {
        self.list_timeout = timeout;
        self
    }

    /// How long a watch that fails inside the server or on the way is tried again before everything is listed; 30 seconds by
    /// default.
    #[must_use]
    pub fn internal_error_retry(mut self, duration: Duration) -> Self {
        self.internal_retry = duration;
        self
    }

    /// How long to wait after failures.
    #[must_use]
    pub fn backoff(mut self, backoff: impl Backoff + Clone + Sync + 'static) -> Self {
        self.backoff = Arc::new(move || Box::new(backoff.clone()));
        self
    }

    /// Where to count lists and watches.
    #[must_use]
    pub fn metrics(mut self, metrics: Arc<dyn Metrics>) -> Self {
        self.metrics = metrics;
        self
    }

    /// What every request says.
    pub(super) fn select(&self, mut options: ListOptions) -> ListOptions {
        options.label_selector.clone_from(&self.labels);
        options.field_selector.clone_from(&self.fields);
        options.shard_selector = self.shard.as_ref().map(Shard::to_string);
        if let Some(tweak) = &self.tweak {
            tweak(&mut options);
        }
        options
    }
}

impl<K> Default for Config<K> {
    fn default() -> Self {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        Config {
            labels: None,
            fields: None,
            shard: None,
            page_size: None,
            initial_sync: InitialSync::default(),
            managed_fields: false,
            transform: None,
            same: None,
            tweak: None,
            watch_timeout: (minutes(5), minutes(10)),
            idle_timeout: None,
            list_timeout: minutes(5),
            internal_retry: Duration::from_secs(30),
            backoff: Arc::new(|| Box::new(ExponentialBackoff::default())),
            metrics: Arc::new(NoMetrics),
        }
    }
}

impl<K> Clone for Config<K> {
    fn clone(&self) -> Self {
        Config {
            labels: self.labels.clone(),
            fields: self.fields.clone(),
            shard: self.shard.clone(),
            transform: self.transform.clone(),
            same: self.same.clone(),
            tweak: self.tweak.clone(),
            backoff: Arc::clone(&self.backoff),
            metrics: Arc::clone(&self.metrics),
            ..*self
        }
    }
}

impl<K> fmt::Debug for Config<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("labels", &self.labels)
            .field("fields", &self.fields)
            .field("shard", &self.shard)
            .field("page_size", &self.page_size)
            .field("initial_sync", &self.initial_sync)
            .finish_non_exhaustive()
    }
}
