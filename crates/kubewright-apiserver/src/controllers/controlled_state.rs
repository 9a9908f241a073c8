//! The state of a server with the controllers that act on each change.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use crate::{
    api::error::Result,
    controllers::{garbage_collector::GarbageCollector, resource_quota, role_aggregation},
    storage::{shared::SharedState, state::State, store::Event},
};

/// The shared state, and the controllers of kube-controller-manager if the server has them.
///
/// Guarantees:
/// - The effects of a change are stored, persisted and visible to watches together with it.
/// - The state is locked only while it is read or changed, never while a webhook is called.
#[derive(Debug)]
pub(crate) struct ControlledState {
    shared: Arc<SharedState>,
    /// Locked after the state, never before.
    collector: Option<Mutex<GarbageCollector>>,
}

impl ControlledState {
    pub(crate) fn new(state: State, collector: Option<GarbageCollector>) -> Self {
        Self { shared: Arc::new(SharedState::new(state)), collector: collector.map(Mutex::new) }
    }

    /// Returns the state that watches share.
    pub(crate) fn shared(&self) -> &Arc<SharedState> {
        &self.shared
    }

    /// Locks the state to read it.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.lock()
    }

    /// Changes the state, with the effects of all controllers. A change that fails may have changed something as well.
    ///
    /// # Errors
    /// The change cannot be persisted. All later requests fail then.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> Result<T> {
        self.commit(change, |collector, state| collector.collect(state))
    }

    /// Changes the state. The garbage collector indexes the change without acting on it.
    ///
    /// # Errors
    /// As [`change`](Self::change).
    pub(crate) fn load<T>(&self, change: impl FnOnce(&mut State) -> T) -> Result<T> {
        self.commit(change, |collector, state| {
            let changes = state.store.take_events();
            collector.observe(&changes);
            changes
        })
    }

    fn commit<T>(
        &self,
        change: impl FnOnce(&mut State) -> T,
        collect: impl FnOnce(&mut GarbageCollector, &mut State) -> Vec<Arc<Event>>,
    ) -> Result<T> {
        let mut state = self.shared.lock();
        let outcome = change(&mut state);
        let changes = match &self.collector {
            Some(collector) => collect(&mut collector.lock(), &mut state),
            None => state.store.take_events(),
        };
        let changes = self.run_controllers(&mut state, changes);
        self.shared.commit(state, &changes)?;
        Ok(outcome)
    }

    /// Updates quotas and aggregates cluster roles after these changes, and returns all changes. Like the garbage
    /// collector, both are controllers of kube-controller-manager.
    fn run_controllers(&self, state: &mut State, mut changes: Vec<Arc<Event>>) -> Vec<Arc<Event>> {
        if self.collector.is_none() {
            return changes;
        }
        if state.rbac && role_aggregation::is_affected(&changes) {
            role_aggregation::aggregate(state);
        }
        resource_quota::sync(state, &changes);
        changes.extend(state.store.take_events());
        changes
    }
}
