//! The version of a store, and waiting for a version.

use std::{cmp::Ordering, sync::Arc, time::Duration};

use kube::Resource;
use tokio::sync::watch;

use super::Store;
use crate::object::{ObjectKey, ResourceVersion};

/// The version of a store. Subscribers are notified of every event, even if the version does not change.
#[derive(Debug)]
pub(super) struct Progress(watch::Sender<State>);

#[derive(Debug)]
struct State {
    /// One for each watch; the version of the store is the lowest of theirs.
    sources: Vec<Source>,
    version: Option<ResourceVersion>,
    /// How often the versions of the server went back, as after a restored backup.
    history: u64,
    stopped: bool,
}

/// A watch that updates the store.
#[derive(Debug, Default)]
struct Source {
    /// `None` for all namespaces.
    namespace: Option<Box<str>>,
    version: Option<ResourceVersion>,
}

/// The version of a watch, by its position, after an event.
pub(crate) type SourceVersion = (usize, ResourceVersion);

impl Default for Progress {
    fn default() -> Self {
        let sources = vec![Source::default()];
        Progress(watch::Sender::new(State { sources, version: None, history: 0, stopped: false }))
    }
}

impl State {
    /// Returns the version of the watch of a namespace, or of the store if there is no such watch.
    fn version_in(&self, namespace: &str) -> Option<&ResourceVersion> {
        let is_of_namespace = |source: &&Source| source.namespace.as_deref() == Some(namespace);
        match self.sources.len() {
            0 | 1 => self.version.as_ref(),
            _ => self
                .sources
                .iter()
                .find(is_of_namespace)
                .map_or(self.version.as_ref(), |source| source.version.as_ref()),
        }
    }
}

impl Progress {
    /// Sets the namespaces of the watches, before the first event.
    pub(super) fn set_namespaces(&self, namespaces: impl IntoIterator<Item = Option<String>>) {
        let source = |namespace: Option<String>| Source { namespace: namespace.map(Into::into), version: None };
        self.0.send_modify(|state| state.sources = namespaces.into_iter().map(source).collect());
    }

    /// Returns whether there is a watch of this namespace, or of all. Cluster-scoped objects have an empty namespace.
    pub(super) fn has_namespace(&self, namespace: &str) -> bool {
        let is_watched = |source: &Source| source.namespace.as_deref().is_none_or(|watched| watched == namespace);
        namespace.is_empty() || self.0.borrow().sources.iter().any(is_watched)
    }

    /// Returns whether a list has an older version than its watch has already reached: the versions of the server went
    /// back.
    pub(super) fn goes_back(&self, versions: &[SourceVersion]) -> bool {
        let state = self.0.borrow();
        versions.iter().any(|(source, version)| {
            let known = state.sources.get(*source).and_then(|source| source.version.as_ref());
            known.is_some_and(|known| version < known)
        })
    }

    /// Sets the versions of watches, after the objects are stored. An empty version was not sent by the server and is
    /// ignored. `goes_back` starts a new history: recorded versions of the previous one are meaningless.
    pub(super) fn advance(&self, versions: impl IntoIterator<Item = SourceVersion>, goes_back: bool) {
        self.0.send_modify(|state| {
            state.history += u64::from(goes_back);
            for (source, version) in versions {
                if let Some(source) = state.sources.get_mut(source).filter(|_| !version.as_str().is_empty()) {
                    source.version = Some(version);
                }
            }
            let versions = state.sources.iter().filter_map(|source| source.version.as_ref());
            let lowest = versions.reduce(|a, b| if b < a { b } else { a }).cloned();
            state.version = lowest;
        });
    }

    /// Returns the number of the current history.
    pub(super) fn history(&self) -> u64 {
        self.0.borrow().history
    }

    pub(super) fn stop(&self) {
        self.0.send_modify(|state| state.stopped = true);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.0.borrow().stopped
    }

    pub(super) fn version(&self) -> Option<ResourceVersion> {
        self.0.borrow().version.clone()
    }

    /// Returns whether the store has reached this version; `None` if it cannot be compared. A store without a version
    /// has reached none.
    pub(super) fn has_reached(&self, version: &str) -> Option<bool> {
        is_reached(self.0.borrow().version.as_ref(), version)
    }

    /// Returns whether the store has reached this version in a namespace.
    pub(super) fn has_reached_in(&self, namespace: &str, version: &str) -> Option<bool> {
        is_reached(self.0.borrow().version_in(namespace), version)
    }

    /// Returns the number of waiting tasks.
    #[cfg(test)]
    pub(super) fn waiter_count(&self) -> usize {
        self.0.receiver_count()
    }

    /// Waits until `result` returns a value. It is called after every event. Cancel-safe: a waiting task only holds a
    /// subscription.
    pub(super) async fn wait<T>(&self, mut result: impl FnMut() -> Option<T>) -> T {
        let mut subscription = self.0.subscribe();
        loop {
            if let Some(result) = result() {
                return result;
            }
            subscription.changed().await.expect("the sender is borrowed while this waits");
        }
    }
}

fn is_reached(current: Option<&ResourceVersion>, version: &str) -> Option<bool> {
    match current {
        None => Some(false),
        Some(current) => current.compare(version).map(Ordering::is_ge),
    }
}

/// The reason why waiting for a store failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WaitError {
    /// A version is not a decimal number, as aggregated API servers can have them.
    #[error(
        "version `{requested}` cannot be compared with {}: wait for the object itself, with an event handler",
        describe(.current)
    )]
    NotComparable {
        /// The requested version.
        requested: ResourceVersion,
        /// The version of the store.
        current: Option<ResourceVersion>,
    },
    /// The informer was stopped, so the store does not change anymore.
    #[error("the informer was stopped at {} before the store caught up: start a new informer", describe(.current))]
    Stopped {
        /// The version of the store.
        current: Option<ResourceVersion>,
    },
    /// The deadline passed.
    #[error(
        "after {waited:?} the store is at {}: does its informer run, and is its `last_error` set?",
        describe(.current)
    )]
    Timeout {
        /// The deadline.
        waited: Duration,
        /// The version of the store.
        current: Option<ResourceVersion>,
    },
}

fn describe(version: &Option<ResourceVersion>) -> String {
    version.as_ref().map_or_else(|| "no version yet".to_owned(), |version| format!("version {version}"))
}

impl<K: Resource + 'static> Store<K> {
    /// Returns the version of the store: it contains all changes up to this version. `None` before the first list. With
    /// several watches, this is the lowest of their versions.
    ///
    /// The version advances with every event, bookmarks included, even if a transform removes metadata.
    pub fn resource_version(&self) -> Option<ResourceVersion> {
        self.0.progress.version()
    }

    /// Waits until the store has reached this version of its kind, as returned for a write or a list. Later queries
    /// return the state at that version or a newer one.
    ///
    /// This waits for as long as the informer runs; use [`wait_for_within`](Self::wait_for_within) to set a deadline.
    /// If no object of the kind changes, the next bookmark arrives within about a minute. This method is cancel-safe.
    ///
    /// # Errors
    /// Fails if the informer was stopped, or the versions differ and one of them is not a decimal number.
    pub async fn wait_for(&self, version: &ResourceVersion) -> Result<(), WaitError> {
        let result = || {
            let State { version: current, stopped, .. } = &*self.0.progress.0.borrow();
            let not_comparable =
                || Err(WaitError::NotComparable { requested: version.clone(), current: current.clone() });
            match current.as_ref().map(|current| current.partial_cmp(version)) {
                Some(Some(Ordering::Equal | Ordering::Greater)) => Some(Ok(())),
                Some(None) => Some(not_comparable()),
                None if !version.is_number() => Some(not_comparable()),
                _ => stopped.then(|| Err(WaitError::Stopped { current: current.clone() })),
            }
        };
        self.0.progress.wait(result).await
    }

    /// Waits like [`wait_for`](Self::wait_for), with a deadline.
    ///
    /// # Errors
    /// Fails like [`wait_for`](Self::wait_for), or if the deadline passed.
    pub async fn wait_for_within(&self, version: &ResourceVersion, deadline: Duration) -> Result<(), WaitError> {
        self.within(deadline, self.wait_for(version)).await
    }

    /// Waits until the object of this key, or its absence, meets a condition, and returns the object. The condition is
    /// called with the current object, and after every event of the kind. A state that is replaced at once can be
    /// missed; an event handler gets every state.
    ///
    /// This waits for as long as the informer runs; use [`wait_until_within`](Self::wait_until_within) to set a
    /// deadline. This method is cancel-safe.
    ///
    /// # Errors
    /// Fails if the informer was stopped.
    pub async fn wait_until(
        &self,
        key: &ObjectKey,
        mut condition: impl FnMut(Option<&K>) -> bool,
    ) -> Result<Option<Arc<K>>, WaitError> {
        let result = || {
            // Whether it is stopped must be read first: nothing changes afterwards.
            let is_stopped = self.0.progress.is_stopped();
            let object = self.get_by_key(key);
            match condition(object.as_deref()) {
                true => Some(Ok(object)),
                false => is_stopped.then(|| Err(WaitError::Stopped { current: self.resource_version() })),
            }
        };
        self.0.progress.wait(result).await
    }

    /// Waits like [`wait_until`](Self::wait_until), with a deadline.
    ///
    /// # Errors
    /// Fails if the informer was stopped or the deadline passed.
    pub async fn wait_until_within(
        &self,
        key: &ObjectKey,
        deadline: Duration,
        condition: impl FnMut(Option<&K>) -> bool,
    ) -> Result<Option<Arc<K>>, WaitError> {
        self.within(deadline, self.wait_until(key, condition)).await
    }

    pub(super) async fn within<T>(
        &self,
        deadline: Duration,
        wait: impl Future<Output = Result<T, WaitError>>,
    ) -> Result<T, WaitError> {
        let timed_out = |_| Err(WaitError::Timeout { waited: deadline, current: self.resource_version() });
        tokio::time::timeout(deadline, wait).await.unwrap_or_else(timed_out)
    }
}
