//! The webhook calls of one request: those to be made, and the outcomes of those that were made.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response};

use super::{Phase, attributes::Attributes, hook::Match};
use crate::api::{
    error::{ApiError, Result},
    object::Object,
};

/// Sends a request to a webhook.
pub(crate) type CallFn = dyn Fn(Request<Bytes>) -> BoxFuture<'static, Response<Bytes>> + Send + Sync;

/// The maximum number of times that the webhooks of a request are called, because the object was changed in between.
const MAX_ROUNDS: usize = 32;

/// The webhook calls of one request.
pub(crate) struct Session {
    call: Arc<CallFn>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    outcomes: Vec<(Key, Outcome)>,
    pending: Vec<Call>,
    rounds: usize,
}

/// Identifies the calls of a phase: by the object, in the state before the write.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Key {
    phase: Phase,
    operation: &'static str,
    /// The namespace, name, UID and resource version of the old object. A request creates at most one object.
    old: Option<[String; 4]>,
}

impl Key {
    pub(super) fn new(phase: Phase, attributes: &Attributes) -> Self {
        let old = attributes.old.as_ref();
        let old = old.map(|old| [old.namespace(), old.name(), old.uid(), old.resource_version()].map(str::to_owned));
        Self { phase, operation: attributes.operation, old }
    }
}

/// The webhooks of a phase that are to be called for an object.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) key: Key,
    pub(super) phase: Phase,
    pub(super) hooks: Vec<Match>,
    pub(super) attributes: Attributes,
    /// The new object; none for a deletion.
    pub(super) object: Option<Object>,
}

/// The outcome of the webhooks of a phase.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    /// The object after mutating webhooks, or the validated one.
    pub(super) result: Result<Option<Object>>,
    pub(super) warnings: Vec<String>,
}

impl Session {
    pub(crate) fn new(call: Arc<CallFn>) -> Self {
        Self { call, state: Mutex::default() }
    }

    pub(super) fn outcome(&self, key: &Key) -> Option<Outcome> {
        self.lock().outcomes.iter().find(|(known, _)| known == key).map(|(_, outcome)| outcome.clone())
    }

    pub(super) fn add(&self, call: Call) {
        self.lock().pending.push(call);
    }

    /// Makes the pending calls.
    ///
    /// # Errors
    /// The object was changed between all calls and writes.
    pub(crate) async fn run(&self) -> Result<()> {
        let pending = {
            let mut state = self.lock();
            state.rounds += 1;
            if state.rounds > MAX_ROUNDS {
                let message = format!("the object was changed during each of {MAX_ROUNDS} calls of its webhooks");
                return Err(ApiError::internal_error(&message));
            }
            std::mem::take(&mut state.pending)
        };
        for call in pending {
            let key = call.key.clone();
            let outcome = call.run(&*self.call).await;
            self.lock().outcomes.push((key, outcome));
        }
        Ok(())
    }

    /// Ignores poisoning: the state is consistent between any two statements.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("rounds", &self.lock().rounds).finish_non_exhaustive()
    }
}
