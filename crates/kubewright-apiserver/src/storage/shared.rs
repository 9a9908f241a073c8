//! The state that all handles and all watches of a server share.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use crate::{
    api::error::Result,
    storage::{encoded_events::EncodedEvents, notifications::Notifications, state::State, store::Event},
};

/// A state under a lock, with the notifications and the encoded events of its changes.
#[derive(Debug)]
pub(crate) struct SharedState {
    state: Mutex<State>,
    pub(crate) notifications: Notifications,
    pub(crate) encoded_events: EncodedEvents,
}

impl SharedState {
    pub(crate) fn new(state: State) -> Self {
        let notifications = Notifications::new(state.store.version());
        Self { state: Mutex::new(state), notifications, encoded_events: EncodedEvents::default() }
    }

    /// Locks the state. No request leaves it partly changed, so a panic in another thread does not invalidate it.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Persists changes, releases the lock and then wakes the watches.
    pub(crate) fn commit(&self, mut state: MutexGuard<'_, State>, changes: &[Arc<Event>]) -> Result<()> {
        state.persist(changes)?;
        let version = state.store.version();
        let dropped = state.store.take_dropped();
        drop(state);
        self.notifications.notify(version, changes);
        drop(dropped);
        Ok(())
    }
}
