//! The conversions of custom objects by a function or by a webhook.
//!
//! A function converts at once. A webhook is called without the lock of the state, and for many objects at once. So
//! what needs conversions is computed by [`Conversions::resolve`]: the computation notes the conversions that it lacks,
//! the webhook is called for all of them, and the computation runs again with their outcomes. The outcomes belong to
//! one request, or to one part of a watch, and are not shared: a webhook that was down for one request is called for
//! the next one.

mod review;

use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use serde_json::Value;

use crate::api::{
    error::{ApiError, Result},
    webhook::{CallFn, ClientConfig},
};

use review::{Failure, ReviewVersion};

/// The time limit of a call, which definitions cannot change.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum number of objects of one review, and their total size in bytes, except for a single larger object.
const MAX_OBJECTS: usize = 256;
const MAX_BYTES: usize = 2 << 20;

type ConvertFn = dyn Fn(&mut Value, &str) -> Result<(), String> + Send + Sync;

/// A function that converts the JSON of an object to an `apiVersion` of its group.
#[derive(Clone)]
pub(crate) struct ConvertFunction(Arc<ConvertFn>);

impl ConvertFunction {
    pub(crate) fn new(convert: impl Fn(&mut Value, &str) -> Result<(), String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(convert))
    }

    /// Converts an object, with the checks of a webhook's response.
    ///
    /// # Errors
    /// The function fails, or changes what a conversion must not change.
    pub(crate) fn convert(&self, object: &Value, target: &str) -> Result<Value> {
        let mut converted = object.clone();
        let outcome = (self.0)(&mut converted, target).map_err(Failure::Response);
        let outcome = outcome.and_then(|()| review::accept(object, converted, target));
        outcome.map_err(|failure| ApiError::internal(failure.of_object(object)))
    }
}

impl fmt::Debug for ConvertFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConvertFunction")
    }
}

/// The conversion webhook of a definition.
#[derive(Debug)]
pub(crate) struct ConversionWebhook {
    client: ClientConfig,
    /// The version of the reviews; `None` if the server knows none of those that the webhook knows.
    version: Option<ReviewVersion>,
}

impl ConversionWebhook {
    pub(crate) fn new(client: ClientConfig, versions: &[String]) -> Self {
        Self { client, version: versions.iter().find_map(|version| ReviewVersion::from_name(version)) }
    }
}

/// The conversions of one request by webhooks: those that are missing, and the outcomes of those that were made.
pub(crate) struct Conversions {
    call: Arc<CallFn>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    outcomes: HashMap<Key, Result<Value, String>>,
    missing: Vec<Missing>,
}

/// Identifies a conversion: by the version, and the JSON of the object.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    target: String,
    object: String,
}

/// A conversion that needs a call.
#[derive(Debug, Clone)]
struct Missing {
    webhook: Arc<ConversionWebhook>,
    key: Key,
    object: Value,
}

impl Conversions {
    pub(crate) fn new(call: Arc<CallFn>) -> Self {
        Self { call, state: Mutex::default() }
    }

    /// Computes something that needs conversions: again after the calls for those that were missing, until none is.
    pub(crate) async fn resolve<T>(&self, mut compute: impl FnMut() -> T) -> T {
        loop {
            let outcome = compute();
            if !self.is_incomplete() {
                return outcome;
            }
            drop(outcome);
            self.call().await;
        }
    }

    /// Returns the object in another version.
    ///
    /// # Errors
    /// The conversion fails, or is missing: then [`resolve`](Self::resolve) discards the error.
    pub(crate) fn convert(&self, webhook: &Arc<ConversionWebhook>, object: &Value, target: &str) -> Result<Value> {
        let key = Key { target: target.to_owned(), object: object.to_string() };
        let mut state = self.state.lock();
        match state.outcomes.get(&key) {
            Some(Ok(converted)) => Ok(converted.clone()),
            Some(Err(error)) => Err(ApiError::internal(error.clone())),
            None => {
                state.missing.push(Missing { webhook: Arc::clone(webhook), key, object: object.clone() });
                Err(ApiError::internal("the conversion webhook was not called"))
            }
        }
    }

    /// Whether a conversion was missing, so that its error is not one of the webhook.
    pub(crate) fn is_incomplete(&self) -> bool {
        !self.state.lock().missing.is_empty()
    }

    /// Forgets all outcomes.
    pub(crate) fn clear(&self) {
        *self.state.lock() = State::default();
    }

    /// Makes the missing conversions: by one call for all objects with the same version.
    async fn call(&self) {
        let mut missing = std::mem::take(&mut self.state.lock().missing);
        while let Some(first) = missing.first().cloned() {
            let is_same =
                |other: &Missing| Arc::ptr_eq(&first.webhook, &other.webhook) && first.key.target == other.key.target;
            let (mut same, others): (Vec<Missing>, Vec<Missing>) = missing.into_iter().partition(is_same);
            missing = others;
            let mut seen = HashSet::new();
            same.retain(|missing| seen.insert(missing.key.clone()));
            let mut rest = same.as_slice();
            while !rest.is_empty() {
                let (objects, others) = rest.split_at(review_length(rest));
                self.convert_all(objects).await;
                rest = others;
            }
        }
    }

    /// Calls the webhook for these objects. If it rejects them, it is called for each, up to the first that it rejects:
    /// an object that cannot be converted does not prevent the conversion of those before it.
    async fn convert_all(&self, objects: &[Missing]) {
        let Some(Missing { webhook, key: Key { target, .. }, .. }) = objects.first() else { return };
        let values: Vec<&Value> = objects.iter().map(|missing| &missing.object).collect();
        let outcome = review::call(&*self.call, webhook, &values, target).await;
        match outcome {
            Err(Failure::Response(_) | Failure::Count(..)) if objects.len() > 1 => {
                for missing in objects {
                    let outcome = review::call(&*self.call, webhook, &[&missing.object], target).await;
                    let is_rejected = outcome.is_err();
                    self.insert(missing, outcome.map(|converted| converted.into_iter().next().unwrap_or_default()));
                    if is_rejected {
                        return;
                    }
                }
            }
            Err(failure) => objects.iter().for_each(|missing| self.insert(missing, Err(failure.clone()))),
            Ok(converted) => {
                objects.iter().zip(converted).for_each(|(missing, converted)| self.insert(missing, Ok(converted)));
            }
        }
    }

    fn insert(&self, missing: &Missing, outcome: Result<Value, Failure>) {
        let outcome = outcome.and_then(|converted| review::accept(&missing.object, converted, &missing.key.target));
        let outcome = outcome.map_err(|failure| failure.of_object(&missing.object));
        self.state.lock().outcomes.insert(missing.key.clone(), outcome);
    }
}

impl fmt::Debug for Conversions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversions").field("missing", &self.state.lock().missing.len()).finish_non_exhaustive()
    }
}

/// Returns the number of objects of the next review, at least 1.
fn review_length(missing: &[Missing]) -> usize {
    let mut bytes = 0;
    let fits = |missing: &&Missing| {
        bytes += missing.key.object.len();
        bytes <= MAX_BYTES
    };
    missing.iter().take(MAX_OBJECTS).take_while(fits).count().max(1)
}

/// Returns whether an object has nothing but its type. It is converted without a webhook.
pub(crate) fn is_empty(object: &Value) -> bool {
    let fields = object.as_object();
    fields.is_some_and(|fields| fields.len() == 2 && fields.contains_key("apiVersion") && fields.contains_key("kind"))
}
