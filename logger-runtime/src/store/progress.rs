//! How far a store is, and waiting until it is so far.

use std::cmp::Ordering;
use std::time::Duration;

use kube::Resource;
use tokio::sync::watch;

use super::Store;
use crate::version::ResourceVersion;

/// How far a store is. Its receivers hear of every event, also of those that leave the version as it was.
#[derive(Debug)]
pub(super) struct Progress(watch::Sender<State>);

#[derive(Debug, Default)]
struct State {
    version: Option<ResourceVersion>,
    stopped: bool,
}

impl Default for Progress {
    fn default() -> Self {
        Progress(watch::Sender::new(State::default()))
    }
}

impl Progress {
    /// After the objects are there. An empty version is one that was not told: it moves nothing.
    pub(super) fn moved(&self, version: ResourceVersion) {
        self.0.send_modify(|state| {
            if !version.as_str().is_empty() {
                state.version = Some(version);
            }
        });
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

    /// Whether the store has reached this version; `None` if that cannot be compared with its own. One that knows no version
    /// yet has reached none.
    pub(super) fn has_reached(&self, version: &str) -> Option<bool> {
        match &self.0.borrow().version {
            None => Some(false),
            Some(here) => here.compare(version).map(Ordering::is_ge),
        }
    }

    /// How many wait.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.0.receiver_count()
    }

    /// Waits until this answers; it is asked after every event. Cancel-safe: nothing is held meanwhile but a place among
    /// those who wait.
    pub(super) async fn wait<T>(&self, mut answer: impl FnMut() -> Option<T>) -> T {
        let mut moved = self.0.subscribe();
        loop {
            if let Some(answer) = answer() {
                return answer;
            }
            moved.changed().await.expect("the sender is borrowed for as long as this waits");
        }
    }
}

/// Why a store did not get as far as was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WaitError {
    /// The versions are no decimal numbers, as an aggregated API server may have them.
    #[error(
        "version `{wanted}` cannot be compared with {}: wait for the object itself, by an event handler", at(.here)
    )]
    NotComparable {
        /// What was asked for.
        wanted: ResourceVersion,
        /// How far the store is.
        here: Option<ResourceVersion>,
    },
    /// The informer was stopped, so the store stays as it is.
    #[error("the informer was stopped at {} and does not reach what was waited for: start another", at(.here))]
    Stopped {
        /// How far the store is.
        here: Option<ResourceVersion>,
    },
    /// The deadline passed.
    #[error(
        "after {waited:?} the store is at {}: does its informer run, and what does its `last_error` say?", at(.here)
    )]
    TooLate {
        /// The deadline.
        waited: Duration,
        /// How far the store is.
        here: Option<ResourceVersion>,
    },
}

fn at(here: &Option<ResourceVersion>) -> String {
    here.as_ref().map_or_else(|| "no version yet".to_owned(), |here| format!("version {here}"))
}

impl<K: Resource + 'static> Store<K> {
    /// How far the store is: nothing that the server told up to this version is missing. `None` before the first list.
    ///
    /// It moves with every event, with bookmarks too, and whatever a transform makes of the objects.
    pub fn version(&self) -> Option<ResourceVersion> {
        self.0.progress.version()
    }

    /// Waits until the store has reached this version of its kind, as a write or a list returned it. Queries after that see
    /// what the server had then, or later.
    ///
    /// It waits for as long as the informer runs: give it a deadline with [`wait_for_within`](Self::wait_for_within). On a
    /// server where nothing of the kind changes, the bookmark that tells so comes within about a minute. It may be
    /// cancelled at any time.
    ///
    /// # Errors
    /// The informer was stopped; or one of the two versions is no decimal number, and they are not the same.
    pub async fn wait_for(&self, version: &ResourceVersion) -> Result<(), WaitError> {
        let answer = || {
            let State { version: here, stopped } = &*self.0.progress.0.borrow();
            let not_comparable = || Err(WaitError::NotComparable { wanted: version.clone(), here: here.clone() });
            match here.as_ref().map(|here| here.partial_cmp(version)) {
                Some(Some(Ordering::Equal | Ordering::Greater)) => Some(Ok(())),
                Some(None) => Some(not_comparable()),
                None if !version.is_number() => Some(not_comparable()),
                _ => stopped.then(|| Err(WaitError::Stopped { here: here.clone() })),
            }
        };
        self.0.progress.wait(answer).await
    }

    /// The same, for at most so long.
    ///
    /// # Errors
    /// As [`wait_for`](Self::wait_for), or the deadline passed.
    pub async fn wait_for_within(&self, version: &ResourceVersion, deadline: Duration) -> Result<(), WaitError> {
        self.within(deadline, self.wait_for(version)).await
    }

    pub(super) async fn within(
        &self,
        deadline: Duration,
        wait: impl Future<Output = Result<(), WaitError>>,
    ) -> Result<(), WaitError> {
        let late = |_| Err(WaitError::TooLate { waited: deadline, here: self.version() });
        tokio::time::timeout(deadline, wait).await.unwrap_or_else(late)
    }
}
