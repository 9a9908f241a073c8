//! The state of a server: its objects, the resources it serves, and where both are persisted.

use crate::{
    api::error::{ApiError, Result},
    resource::registry::Registry,
    storage::store::{Event, Store},
};

/// Everything that requests read and write, guarded by one lock.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) store: Store,
    pub(crate) registry: Registry,
    /// Whether watches may start with the existing objects (`sendInitialEvents`).
    pub(crate) watch_list: bool,
    /// Persists changes before the response is sent.
    pub(crate) persistence: Option<Box<dyn Persistence>>,
    /// The first failure to persist a change. Every request fails from then on.
    pub(crate) failure: Option<String>,
}

/// Persists changes, so that a restarted server has them.
pub(crate) trait Persistence: std::fmt::Debug + Send {
    /// Persists all of these changes or none. The last one has `version`. They are durable when this returns.
    fn persist(&mut self, changes: &[Event], version: u64) -> Result<(), String>;
}

impl State {
    /// Creates the state of a server with these objects and the built-in kinds.
    pub(crate) fn new(store: Store, watch_list: bool) -> Self {
        Self { store, registry: Registry::new(), watch_list, persistence: None, failure: None }
    }

    /// Fails once a change could not be persisted: the objects in memory are then ahead of those on disk.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.failure {
            Some(error) => {
                let message = format!("changes cannot be persisted any more, restart the server: {error}");
                Err(ApiError::internal_error(&message))
            }
            None => Ok(()),
        }
    }

    /// Persists changes, before any client sees them.
    pub(crate) fn persist(&mut self, changes: &[Event]) -> Result<()> {
        if let Some(persistence) = self.persistence.as_mut().filter(|_| !changes.is_empty()) {
            self.failure = persistence.persist(changes, self.store.version()).err();
        }
        self.check()
    }
}
