//! The webhook calls of one request: those to be made, and the outcomes of those that were made.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use super::{Phase, attributes::Attributes, hook::Match};
use crate::{
    api::{
        error::{ApiError, Result},
        object::Object,
        webhook::CallFn,
    },
    resource::pending_conversions::Conversions,
};

/// The maximum number of times that the webhooks of a request are called: for further conversions, or because the
/// object was changed in between.
const MAX_ROUNDS: usize = 64;

/// The webhook calls of one request.
pub(crate) struct Session {
    call: Arc<CallFn>,
    conversions: Arc<Conversions>,
    generated_name: OnceLock<String>,
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
        let conversions = Arc::new(Conversions::new(Arc::clone(&call)));
        Self { call, conversions, generated_name: OnceLock::new(), state: Mutex::default() }
    }

    /// Returns the conversions of the request.
    pub(crate) fn conversions(&self) -> &Arc<Conversions> {
        &self.conversions
    }

    /// Returns the name of the object that the request creates. It is generated once.
    pub(crate) fn generated_name(&self, generate: impl FnOnce() -> String) -> String {
        self.generated_name.get_or_init(generate).clone()
    }

    pub(super) fn outcome(&self, key: &Key) -> Option<Outcome> {
        self.lock().outcomes.iter().find(|(known, _)| known == key).map(|(_, outcome)| outcome.clone())
    }

    pub(super) fn add(&self, call: Call) {
        self.lock().pending.push(call);
    }

    /// Makes the pending calls, conversions first.
    ///
    /// # Errors
    /// Calls are still pending after [`MAX_ROUNDS`].
    pub(crate) async fn run(&self) -> Result<()> {
        let pending = {
            let mut state = self.lock();
            state.rounds += 1;
            if state.rounds > MAX_ROUNDS {
                let message = format!("the webhooks were called {MAX_ROUNDS} times, and the object changed in between");
                return Err(ApiError::internal_error(&message));
            }
            std::mem::take(&mut state.pending)
        };
        self.conversions.run().await;
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
