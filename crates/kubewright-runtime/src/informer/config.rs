//! The options of an informer, and the errors of changing one that was started or stopped.

use std::{fmt, sync::Arc, time::Duration};

use crate::{error::Error, memory::Memory, reflector, sharding::Sharding};

/// The options of an informer. They embed those of its reflector, which also include the metrics.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kubewright_runtime::informer::Config;
///
/// let config = Config::<Pod>::default()
///     .name("web")
///     .on_error(|error| eprintln!("{error}"))
///     .reflector(|reflector| reflector.labels("app=web").transform(|pod| pod.status = None));
/// ```
pub struct Config<K> {
    pub(super) reflector: reflector::Config<K>,
    pub(super) name: String,
    pub(super) resync: Option<Duration>,
    pub(super) memory: Memory,
    pub(super) on_error: Option<ErrorHandler>,
}

pub(super) type ErrorHandler = Arc<dyn Fn(&Error) + Send + Sync>;

/// The informer was already started, so its options cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the informer of {resource} was already started; configure it before")]
pub struct AlreadyStarted {
    /// Such as `loggers.example.com`.
    pub resource: String,
}

/// The informer is stopped, so it accepts no handlers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the informer of {resource} is stopped and accepts no handlers; create a new one")]
pub struct Stopped {
    /// Such as `loggers.example.com`.
    pub resource: String,
}

/// The informer failed, so its store is no longer updated and its handlers are no longer notified.
///
/// Failed requests and skipped objects do not fail an informer. Only a panic does that none of its guarantees covers,
/// or that of a handler with [`OnPanic::Abort`](super::OnPanic::Abort).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the informer of {resource}{} failed: {reason}; its objects are no longer updated", named(.name))]
pub struct InformerFailed {
    /// Such as `loggers.example.com`.
    pub resource: String,
    /// The [name](Config::name) of the informer; empty by default.
    pub name: String,
    /// The reason.
    pub reason: String,
}

/// The API server has not responded to a list or watch of an informer for too long.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no response to the watch of {resource}{} for {} s; the limit is {} s",
    in_namespace(namespace),
    silent.as_secs(),
    limit.as_secs()
)]
pub struct WatchSilent {
    /// Such as `loggers.example.com`.
    pub resource: String,
    /// The namespace of the watch; `None` for all namespaces.
    pub namespace: Option<String>,
    /// The time since the last response.
    pub silent: Duration,
    /// The longest timeout of a list or watch plus the interval of bookmarks.
    pub limit: Duration,
}

fn in_namespace(namespace: &Option<String>) -> String {
    namespace.as_ref().map_or_else(String::new, |namespace| format!(" in namespace `{namespace}`"))
}

fn named(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" `{name}`") }
}

impl<K> Config<K> {
    /// Changes the options of the reflector: which objects are listed and watched, how they are transformed, and the
    /// metrics.
    #[must_use]
    pub fn reflector(mut self, change: impl FnOnce(reflector::Config<K>) -> reflector::Config<K>) -> Self {
        self.reflector = change(self.reflector);
        self
    }

    /// Sets the name of the informer in its metrics and errors; empty by default.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the resync period of handlers that do not set one; no resyncs by default. See
    /// [`HandlerOptions::resync`](super::HandlerOptions::resync).
    #[must_use]
    pub fn resync(mut self, period: Duration) -> Self {
        self.resync = Some(period);
        self
    }

    /// Sets how the objects are held in memory; decoded by default.
    #[must_use]
    pub fn memory(mut self, memory: Memory) -> Self {
        self.memory = memory;
        self
    }

    /// Sets a handler of list and watch errors, like client-go's `WatchErrorHandler`. Errors are logged and retried in
    /// any case. The handler runs on the informer's task, so it must be fast. Its panics are logged.
    #[must_use]
    pub fn on_error(mut self, handler: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        self.on_error = Some(Arc::new(handler));
        self
    }

    /// Returns the label selector and the field selector.
    pub(crate) fn selectors(&self) -> (Option<String>, Option<String>) {
        self.reflector.selectors()
    }

    pub(super) fn sharding(&self) -> Option<&Sharding> {
        self.reflector.sharding_of()
    }

    /// Returns the same options for another kind, without a transform.
    pub(crate) fn for_kind<T>(&self) -> Config<T> {
        Config {
            reflector: self.reflector.for_kind(),
            name: self.name.clone(),
            resync: self.resync,
            memory: self.memory,
            on_error: self.on_error.clone(),
        }
    }
}

impl<K> Default for Config<K> {
    fn default() -> Self {
        reflector::Config::default().into()
    }
}

impl<K> From<reflector::Config<K>> for Config<K> {
    fn from(reflector: reflector::Config<K>) -> Self {
        Config { reflector, name: String::new(), resync: None, memory: Memory::Plain, on_error: None }
    }
}

impl<K> Clone for Config<K> {
    fn clone(&self) -> Self {
        Config { reflector: self.reflector.clone(), ..self.for_kind() }
    }
}

impl<K> fmt::Debug for Config<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Config { reflector, name, resync, memory, .. } = self;
        f.debug_struct("Config")
            .field("reflector", reflector)
            .field("name", name)
            .field("resync", resync)
            .field("memory", memory)
            .finish_non_exhaustive()
    }
}
