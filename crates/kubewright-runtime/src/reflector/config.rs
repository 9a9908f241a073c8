//! The options of a reflector.

use std::{fmt, sync::Arc, time::Duration};

use super::{
    activity::Activity,
    backoff::{Backoff, ExponentialBackoff},
    list_options::ListOptions,
};
use crate::{
    error::{SkippedObjects, UserCodePanicked, catch_panic},
    memory::{Packer, Stored},
    metrics::Metrics,
    object::{ApiObject, ObjectKey},
    sharding::{Shard, Sharding},
};

/// How a reflector gets the existing objects when it starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InitialListStrategy {
    /// Lists the objects, in pages or in one response, compressed if client and server support it.
    #[default]
    List,
    /// Streams the objects as the initial events of a watch, which needs less memory in the server: KEP-3157, enabled
    /// by default in Kubernetes 1.32 and since 1.34. If the server does not support it, the reflector lists the objects
    /// and does not try it again.
    WatchList,
}

/// What happens if an object of a list or watch cannot be decoded, or its transform panics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DecodeErrorPolicy {
    /// Skips the object and reports the error with the name of the object and the field. The last known state of the
    /// object is retained until it can be decoded or is deleted.
    #[default]
    Skip,
    /// Fails the list or watch, which is retried with a back-off. No object changes until the error is corrected. For
    /// programs that must not act on an incomplete set of objects.
    Fail,
}

type Transform<K> = Arc<dyn Fn(&mut K) + Send + Sync>;
type TweakListOptions = Arc<dyn Fn(&mut ListOptions) + Send + Sync>;
type Reuse<K> = Arc<dyn Fn(&str, &str, &str) -> Option<Stored<K>> + Send + Sync>;
type LastKnown<K> = Arc<dyn Fn(&ObjectKey) -> Option<Stored<K>> + Send + Sync>;
type BackoffFactory = Arc<dyn Fn() -> Box<dyn Backoff> + Send + Sync>;

/// The options of a reflector. This is the only place for options of lists and watches: informers and factories embed
/// it.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kubewright_runtime::reflector::Config;
///
/// let config = Config::<Pod>::default()
///     .labels("app=web")
///     .transform(|pod| pod.status = None);
/// ```
pub struct Config<K> {
    pub(super) labels: Option<String>,
    pub(super) fields: Option<String>,
    pub(super) shard: Option<Shard>,
    pub(super) sharding: Option<Sharding>,
    pub(super) page_size: Option<u32>,
    pub(super) initial_list_strategy: InitialListStrategy,
    pub(super) keep_managed_fields: bool,
    pub(super) transform: Option<Transform<K>>,
    pub(super) reuse: Option<Reuse<K>>,
    pub(super) last_known: Option<LastKnown<K>>,
    pub(super) packer: Packer<K>,
    pub(super) decode_error_policy: DecodeErrorPolicy,
    pub(super) is_optional: bool,
    pub(super) skipped: SkippedObjects,
    pub(super) activity: Activity,
    pub(super) tweak_list_options: Option<TweakListOptions>,
    pub(super) watch_timeout: (Duration, Duration),
    pub(super) idle_timeout: Option<Duration>,
    pub(super) list_timeout: Duration,
    pub(super) max_internal_error_retry: Duration,
    pub(super) backoff: BackoffFactory,
    pub(crate) metrics: Option<Metrics>,
}

impl<K> Config<K> {
    /// Selects objects by labels, such as `app=web,tier!=cache`. An object that no longer matches is reported as
    /// deleted.
    #[must_use]
    pub fn labels(mut self, selector: impl Into<String>) -> Self {
        self.labels = Some(selector.into());
        self
    }

    /// Selects objects by fields, such as `metadata.name=audit`. Servers support few fields per kind and reject others.
    #[must_use]
    pub fn fields(mut self, selector: impl Into<String>) -> Self {
        self.fields = Some(selector.into());
        self
    }

    /// Selects the objects of this shard, whether or not the server supports sharding.
    #[must_use]
    pub fn shard(mut self, shard: Shard) -> Self {
        self.shard = Some(shard);
        self
    }

    /// Selects the objects of the slots of this replica, in place of a fixed [shard](Self::shard). They are listed
    /// again when the slots change.
    #[must_use]
    pub fn sharding(mut self, sharding: &Sharding) -> Self {
        self.sharding = Some(sharding.clone());
        self
    }

    /// Sets the page size of every list. 0 restores the default.
    ///
    /// By default the first list has pages of 500 objects and later ones are not paginated: the server serves those
    /// from its watch cache, and pages from etcd.
    #[must_use]
    pub fn page_size(mut self, objects: u32) -> Self {
        self.page_size = Some(objects).filter(|&objects| objects > 0);
        self
    }

    /// Sets how the existing objects are fetched.
    #[must_use]
    pub fn initial_list_strategy(mut self, strategy: InitialListStrategy) -> Self {
        self.initial_list_strategy = strategy;
        self
    }

    /// Retains `metadata.managedFields`. By default they are dropped: they are often a third of an object, and only
    /// server-side apply needs them, which runs in the server.
    #[must_use]
    pub fn keep_managed_fields(mut self) -> Self {
        self.keep_managed_fields = true;
        self
    }

    /// Sets what happens if an object cannot be decoded, or its transform panics. It is skipped by default.
    #[must_use]
    pub fn decode_error_policy(mut self, policy: DecodeErrorPolicy) -> Self {
        self.decode_error_policy = policy;
        self
    }

    /// Treats a kind that the server does not serve as one without objects: while its definition is not installed, an
    /// informer is synced and empty. It starts to watch, after the next back-off, when the definition is installed, and
    /// is empty again when the definition is removed. By default, a kind that is not served is an error.
    ///
    /// A kind is not served if its requests fail with 404, and discovery does not list it, or fails for a minute. A 404
    /// of a kind that discovery lists is an error, as that of a gateway.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.is_optional = true;
        self
    }

    /// Modifies the options of every list and watch before the request is sent. If it panics, the request fails.
    #[must_use]
    pub fn tweak_list_options(mut self, tweak: impl Fn(&mut ListOptions) + Send + Sync + 'static) -> Self {
        self.tweak_list_options = Some(Arc::new(tweak));
        self
    }

    /// Sets the timeout of watches: random between these two, in whole seconds, at least one. 5 to 10 minutes by
    /// default. After it, the server ends the watch and the reflector starts the next one. If `max` is less than `min`,
    /// the timeout is `min`.
    #[must_use]
    pub fn watch_timeout(mut self, min: Duration, max: Duration) -> Self {
        let min = min.max(Duration::from_secs(1));
        self.watch_timeout = (min, max.max(min));
        self
    }

    /// Sets how long a watch can have no event, not even a bookmark, before it is considered dead.
    ///
    /// By default this is 90 s: Kubernetes sends a bookmark about every minute. A server that sends no bookmarks is
    /// watched again after each such time without events, which is an error only once. The timeout also applies to the
    /// response.
    #[must_use]
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = Some(timeout);
        self
    }

    /// Sets how long a list can take before it is cancelled; 5 minutes by default.
    #[must_use]
    pub fn list_timeout(mut self, timeout: Duration) -> Self {
        self.list_timeout = timeout;
        self
    }

    /// Sets the back-off after failures.
    #[must_use]
    pub fn backoff(mut self, backoff: impl Backoff + Clone + Sync + 'static) -> Self {
        self.backoff = Arc::new(move || Box::new(backoff.clone()));
        self
    }

    /// Sets where the metrics of the reflector, and of the informer that embeds it, are collected; nowhere by default.
    #[must_use]
    pub fn metrics(mut self, metrics: Metrics) -> Self {
        self.metrics = Some(metrics);
        self
    }

    /// Returns the label selector and the field selector.
    pub(crate) fn selectors(&self) -> (Option<String>, Option<String>) {
        (self.labels.clone(), self.fields.clone())
    }

    pub(crate) fn sharding_of(&self) -> Option<&Sharding> {
        self.sharding.as_ref()
    }

    /// Records the skipped objects in this set, which reflectors can share.
    pub(crate) fn record_skipped(mut self, skipped: &SkippedObjects) -> Self {
        self.skipped = skipped.clone();
        self
    }

    /// Records the responses of the server here.
    pub(crate) fn record_activity(mut self, activity: &Activity) -> Self {
        self.activity = activity.clone();
        self
    }

    /// Packs the objects for the store of an informer.
    pub(crate) fn pack(mut self, packer: Packer<K>) -> Self {
        self.packer = packer;
        self
    }

    /// Sets the functions that look up stored objects; see [`reuse`](Self::reuse) and
    /// [`last_known`](Self::last_known).
    pub(crate) fn look_up(
        mut self,
        reuse: impl Fn(&str, &str, &str) -> Option<Stored<K>> + Send + Sync + 'static,
        last_known: impl Fn(&ObjectKey) -> Option<Stored<K>> + Send + Sync + 'static,
    ) -> Self {
        self.reuse = Some(Arc::new(reuse));
        self.last_known = Some(Arc::new(last_known));
        self
    }

    /// Returns the same options for another kind, without the functions of its objects.
    pub(crate) fn for_kind<T>(&self) -> Config<T> {
        Config {
            labels: self.labels.clone(),
            fields: self.fields.clone(),
            shard: self.shard.clone(),
            sharding: self.sharding.clone(),
            page_size: self.page_size,
            initial_list_strategy: self.initial_list_strategy,
            keep_managed_fields: self.keep_managed_fields,
            transform: None,
            reuse: None,
            last_known: None,
            packer: Packer::default(),
            decode_error_policy: self.decode_error_policy,
            is_optional: self.is_optional,
            skipped: SkippedObjects::default(),
            activity: Activity::default(),
            tweak_list_options: self.tweak_list_options.clone(),
            watch_timeout: self.watch_timeout,
            idle_timeout: self.idle_timeout,
            list_timeout: self.list_timeout,
            max_internal_error_retry: self.max_internal_error_retry,
            backoff: Arc::clone(&self.backoff),
            metrics: self.metrics.clone(),
        }
    }

    /// Adds the selectors to the options of a request, and tweaks them.
    pub(super) fn list_options(&self, mut options: ListOptions) -> Result<ListOptions, UserCodePanicked> {
        options.label_selector.clone_from(&self.labels);
        options.field_selector.clone_from(&self.fields);
        options.shard_selector = self.shard.as_ref().map(Shard::to_string);
        if let Some(tweak) = &self.tweak_list_options {
            let tweaked = catch_panic(|| tweak(&mut options));
            tweaked.map_err(|panic| UserCodePanicked::new("the tweak of the list options", None, panic))?;
        }
        Ok(options)
    }
}

impl<K: ApiObject> Config<K> {
    /// Modifies each object before it is stored, for example to drop data that is not needed. It is called once per
    /// object from the server, but not for objects returned by [`reuse`](Self::reuse). It must not change the name, the
    /// namespace or the UID. An object for which it panics is handled by the
    /// [`DecodeErrorPolicy`](Self::decode_error_policy).
    #[must_use]
    pub fn transform(mut self, transform: impl Fn(&mut K) + Send + Sync + 'static) -> Self {
        self.transform = Some(Arc::new(transform));
        self
    }

    /// Looks up a known object by namespace (empty if cluster-scoped), name and resource version. If there is one, it
    /// replaces the listed object, so that unchanged objects are in memory once during a relist. If it panics, the
    /// listed object is used.
    #[must_use]
    pub fn reuse(mut self, reuse: impl Fn(&str, &str, &str) -> Option<Arc<K>> + Send + Sync + 'static) -> Self {
        self.reuse = Some(Arc::new(move |namespace, name, version| reuse(namespace, name, version).map(Stored::from)));
        self
    }

    /// Looks up the last known state of an object that is skipped. It replaces the object in a list, so that the object
    /// does not seem to be deleted. Without it, or if it panics, lists do not contain the object. Informers set it.
    #[must_use]
    pub fn last_known(mut self, last_known: impl Fn(&ObjectKey) -> Option<Arc<K>> + Send + Sync + 'static) -> Self {
        self.last_known = Some(Arc::new(move |key| last_known(key).map(Stored::from)));
        self
    }
}

impl<K> Default for Config<K> {
    fn default() -> Self {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        Config {
            labels: None,
            fields: None,
            shard: None,
            sharding: None,
            page_size: None,
            initial_list_strategy: InitialListStrategy::default(),
            keep_managed_fields: false,
            transform: None,
            reuse: None,
            last_known: None,
            packer: Packer::default(),
            decode_error_policy: DecodeErrorPolicy::default(),
            is_optional: false,
            skipped: SkippedObjects::default(),
            activity: Activity::default(),
            tweak_list_options: None,
            watch_timeout: (minutes(5), minutes(10)),
            idle_timeout: None,
            list_timeout: minutes(5),
            max_internal_error_retry: Duration::from_secs(30),
            backoff: Arc::new(|| Box::new(ExponentialBackoff::default())),
            metrics: None,
        }
    }
}

impl<K> Clone for Config<K> {
    fn clone(&self) -> Self {
        Config {
            transform: self.transform.clone(),
            reuse: self.reuse.clone(),
            last_known: self.last_known.clone(),
            packer: self.packer.clone(),
            ..self.for_kind()
        }
    }
}

impl<K> fmt::Debug for Config<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("labels", &self.labels)
            .field("fields", &self.fields)
            .field("shard", &self.shard)
            .field("sharding", &self.sharding)
            .field("page_size", &self.page_size)
            .field("initial_list_strategy", &self.initial_list_strategy)
            .field("is_optional", &self.is_optional)
            .finish_non_exhaustive()
    }
}
