//! The state that all handles and all watches of a server share, and the notification of changes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch::{Receiver, Sender};

use crate::{
    api::error::Result,
    storage::{state::State, store::Event},
};

/// A state under a lock, with the version of its latest change.
#[derive(Debug)]
pub(crate) struct SharedState {
    state: Mutex<State>,
    /// The version of the latest change; watches wait until it increases.
    changed: Sender<u64>,
}

impl SharedState {
    pub(crate) fn new(state: State) -> Self {
        let changed = Sender::new(state.store.version());
        Self { state: Mutex::new(state), changed }
    }

    /// Locks the state. No request leaves it partly changed, so a panic in another thread does not invalidate it.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Persists changes, releases the lock and then wakes the watches.
    pub(crate) fn commit(&self, mut state: MutexGuard<'_, State>, changes: &[Arc<Event>]) -> Result<()> {
        state.persist(changes)?;
        let version = state.store.version();
        let dropped = state.store.take_dropped();
        drop(state);
        self.notify(version);
        drop(dropped);
        Ok(())
    }

    /// Returns a receiver of the version of the latest change.
    pub(crate) fn subscribe(&self) -> Receiver<u64> {
        self.changed.subscribe()
    }

    fn notify(&self, version: u64) {
        self.changed.send_if_modified(|latest| {
            let is_newer = version > *latest;
            *latest = version.max(*latest);
            is_newer
        });
    }
}
