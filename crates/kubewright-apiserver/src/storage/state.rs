//! The state of a server: its objects, the resources it serves, and where both are persisted.

use std::sync::Arc;

use crate::{
    api::error::{ApiError, Result},
    authentication::authenticator::Authenticator,
    authorization::{attributes::Attributes, rbac::Decision, recorder::Recorder, user::User},
    resource::registry::Registry,
    storage::store::{Event, Store},
};

/// Everything that requests read and write, guarded by one lock.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) store: Store,
    pub(crate) registry: Registry,
    /// Whether requests are authorized by roles. Otherwise every user may do anything.
    pub(crate) rbac: bool,
    /// Authenticates requests and reviewed tokens, and issues tokens.
    pub(crate) authenticator: Arc<Authenticator>,
    /// The authorizations of requests, if they are authorized by roles.
    pub(crate) authorizations: Recorder,
    /// Persists changes before the response is sent.
    pub(crate) persistence: Option<Box<dyn Persistence>>,
    /// The first failure to persist a change. Every request fails from then on.
    pub(crate) failure: Option<String>,
}

/// Persists changes, so that a restarted server has them.
pub(crate) trait Persistence: std::fmt::Debug + Send {
    /// Persists all of these changes or none. The last one has `version`. They are durable when this returns.
    fn persist(&mut self, changes: &[Arc<Event>], version: u64) -> Result<(), String>;
}

impl State {
    /// Creates the state of a server with these objects and the built-in kinds.
    pub(crate) fn new(store: Store, rbac: bool, authenticator: Authenticator) -> Self {
        Self {
            store,
            registry: Registry::new(),
            rbac,
            authenticator: Arc::new(authenticator),
            authorizations: Recorder::default(),
            persistence: None,
            failure: None,
        }
    }

    /// Returns whether a user may do something.
    pub(crate) fn decide(&self, user: &User, attributes: &Attributes) -> Decision {
        if self.rbac { self.store.bindings().authorize(user, attributes) } else { Decision::allow("") }
    }

    /// Returns whether a user may do something, and records the decision.
    pub(crate) fn authorize(&mut self, user: &User, attributes: &Attributes) -> Decision {
        let decision = self.decide(user, attributes);
        if self.rbac {
            self.authorizations.record(user, attributes, decision.allowed);
        }
        decision
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
    pub(crate) fn persist(&mut self, changes: &[Arc<Event>]) -> Result<()> {
        if let Some(persistence) = self.persistence.as_mut().filter(|_| !changes.is_empty()) {
            self.failure = persistence.persist(changes, self.store.version()).err();
        }
        self.check()
    }
}
