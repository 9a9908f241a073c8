//! What an informer can be told before it starts, and what it refuses later.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::error::Error;
use crate::metrics::Metrics;
use crate::reflector;

/// The options of an informer. A clone has the same.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use logger_runtime::informer::Config;
/// use logger_runtime::reflector;
///
/// let selected = reflector::Config::<Pod>::default().labels("app=web").transform(|pod| pod.status = None);
/// let config = Config::from(selected).name("web").on_error(|error| eprintln!("{error}"));
/// ```
pub struct Config<K> {
    pub(super) reflector: reflector::Config<K>,
    pub(super) name: String,
    pub(super) resync: Option<Duration>,
    pub(super) on_error: Option<ErrorHandler>,
    pub(super) metrics: Option<Arc<dyn Metrics>>,
}

pub(super) type ErrorHandler = Arc<dyn Fn(&Error) + Send + Sync>;

/// An informer that was started takes no other options.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the informer of {resource} was started: give it its options before")]
pub struct Started {
    /// Such as `loggers.example.com`.
    pub resource: String,
}

/// An informer takes no handlers any more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the informer of {resource} has stopped and takes no handlers any more; make a new one")]
pub struct Stopped {
    /// Such as `loggers.example.com`.
    pub resource: String,
}

impl<K> Config<K> {
    /// Changes how objects are listed and watched: which, and what becomes of each before it is kept.
    #[must_use]
    pub fn reflector(mut self, change: impl FnOnce(reflector::Config<K>) -> reflector::Config<K>) -> Self {
        self.reflector = change(self.reflector);
        self
    }

    /// A name, for metrics: empty by default.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// How often handlers that do not say hear of every object again; never by default. See
    /// [`HandlerOptions::resync`](super::HandlerOptions::resync).
    #[must_use]
    pub fn resync(mut self, period: Duration) -> Self {
        self.resync = Some(period);
        self
    }

    /// Has this called with everything that goes wrong on the way to the server. It is logged and tried again all the same. It is
    /// called on the informer's task, so it must be quick; if it panics, that is logged.
    #[must_use]
    pub fn on_error(mut self, handler: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        self.on_error = Some(Arc::new(handler));
        self
    }

    /// Where to measure the informer and its reflector.
    #[must_use]
    pub fn metrics(mut self, metrics: Arc<dyn Metrics>) -> Self {
        self.reflector = self.reflector.metrics(Arc::clone(&metrics));
        self.metrics = Some(metrics);
        self
    }
}

impl<K> Default for Config<K> {
    fn default() -> Self {
        reflector::Config::default().into()
    }
}

impl<K> From<reflector::Config<K>> for Config<K> {
    fn from(reflector: reflector::Config<K>) -> Self {
        Config { reflector, name: String::new(), resync: None, on_error: None, metrics: None }
    }
}

impl<K> Clone for Config<K> {
    fn clone(&self) -> Self {
        Config {
            reflector: self.reflector.clone(),
            name: self.name.clone(),
            resync: self.resync,
            on_error: self.on_error.clone(),
            metrics: self.metrics.clone(),
        }
    }
}

impl<K> fmt::Debug for Config<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Config { reflector, name, resync, .. } = self;
        f.debug_struct("Config")
            .field("reflector", reflector)
            .field("name", name)
            .field("resync", resync)
            .finish_non_exhaustive()
    }
}
