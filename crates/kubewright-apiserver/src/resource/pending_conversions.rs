//! The conversions of custom objects by a function or by a webhook.
//!
//! A function converts at once. A webhook is called without the lock of the state, so a conversion by a webhook is
//! *pending* at first: the server makes the calls of all pending conversions of a request, and handles the request
//! again. The outcomes belong to one request, or to one part of a watch, and are not shared: a webhook that was down
//! for one request is called for the next one.

mod review;

use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::{Map, Value};

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
        Self { client, version: versions.iter().find_map(|version| ReviewVersion::of(version)) }
    }
}

/// The conversions of one request by webhooks: those that are pending, and the outcomes of those that were made.
pub(crate) struct Conversions {
    call: Arc<CallFn>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    outcomes: HashMap<Key, Result<Value, String>>,
    pending: Vec<Pending>,
}

/// Identifies a conversion: by the version, and the JSON of the object without what differs between two attempts to
/// handle a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    target: String,
    object: String,
}

/// A conversion that needs a call.
#[derive(Debug, Clone)]
struct Pending {
    webhook: Arc<ConversionWebhook>,
    key: Key,
    object: Value,
}

impl Conversions {
    pub(crate) fn new(call: Arc<CallFn>) -> Self {
        Self { call, state: Mutex::default() }
    }

    /// Returns the object in another version.
    ///
    /// # Errors
    /// The conversion fails or is pending.
    pub(crate) fn convert(&self, webhook: &Arc<ConversionWebhook>, object: &Value, target: &str) -> Result<Value> {
        let key = Key { target: target.to_owned(), object: visible(object).to_string() };
        let mut state = self.lock();
        match state.outcomes.get(&key) {
            Some(Ok(converted)) => Ok(review::with_metadata_of(object, converted.clone())),
            Some(Err(why)) => Err(ApiError::internal(why.clone())),
            None => {
                state.pending.push(Pending { webhook: Arc::clone(webhook), key, object: object.clone() });
                Err(ApiError::WebhookPending)
            }
        }
    }

    /// Fails if a conversion is pending.
    pub(crate) fn check_pending(&self) -> Result<()> {
        if self.lock().pending.is_empty() { Ok(()) } else { Err(ApiError::WebhookPending) }
    }

    /// Forgets all outcomes, and what is pending.
    pub(crate) fn clear(&self) {
        *self.lock() = State::default();
    }

    /// Makes the pending calls: one for all objects with the same version.
    pub(crate) async fn run(&self) {
        let mut pending = std::mem::take(&mut self.lock().pending);
        while let Some(first) = pending.first().cloned() {
            let is_same =
                |other: &Pending| Arc::ptr_eq(&first.webhook, &other.webhook) && first.key.target == other.key.target;
            let (mut same, others): (Vec<Pending>, Vec<Pending>) = pending.into_iter().partition(is_same);
            pending = others;
            let mut seen = HashSet::new();
            same.retain(|pending| seen.insert(pending.key.clone()));
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
    async fn convert_all(&self, objects: &[Pending]) {
        let Some(Pending { webhook, key: Key { target, .. }, .. }) = objects.first() else { return };
        let values: Vec<&Value> = objects.iter().map(|pending| &pending.object).collect();
        let outcome = review::call(&*self.call, webhook, &values, target).await;
        match outcome {
            Err(Failure::Response(_) | Failure::Count(..)) if objects.len() > 1 => {
                for one in objects {
                    let outcome = review::call(&*self.call, webhook, &[&one.object], target).await;
                    let is_rejected = outcome.is_err();
                    self.insert(one, outcome.map(|converted| converted.into_iter().next().unwrap_or_default()));
                    if is_rejected {
                        return;
                    }
                }
            }
            Err(failure) => objects.iter().for_each(|one| self.insert(one, Err(failure.clone()))),
            Ok(converted) => {
                objects.iter().zip(converted).for_each(|(one, converted)| self.insert(one, Ok(converted)));
            }
        }
    }

    fn insert(&self, pending: &Pending, outcome: Result<Value, Failure>) {
        let outcome = outcome.and_then(|converted| review::accept(&pending.object, converted, &pending.key.target));
        let outcome = outcome.map_err(|failure| failure.of_object(&pending.object));
        self.lock().outcomes.insert(pending.key.clone(), outcome);
    }

    /// Ignores poisoning: the state is consistent between any two statements.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Conversions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversions").field("pending", &self.lock().pending.len()).finish_non_exhaustive()
    }
}

/// Returns the number of objects of the next review, at least 1.
fn review_length(pending: &[Pending]) -> usize {
    let mut bytes = 0;
    let fits = |one: &&Pending| {
        bytes += one.key.object.len();
        bytes <= MAX_BYTES
    };
    pending.iter().take(MAX_OBJECTS).take_while(fits).count().max(1)
}

/// Returns whether an object has nothing but its type. It is converted without a webhook.
pub(crate) fn is_empty(object: &Value) -> bool {
    let fields = object.as_object();
    fields.is_some_and(|fields| fields.len() == 2 && fields.contains_key("apiVersion") && fields.contains_key("kind"))
}

/// Returns the object without the values of the metadata that the server sets in each attempt to handle a request. A
/// conversion cannot depend on them, as they are put back from the original. It can depend on whether they are set: an
/// object without UID is partial.
fn visible(object: &Value) -> Value {
    const GENERATED: [&str; 4] = ["creationTimestamp", "deletionTimestamp", "managedFields", "uid"];
    let visible = |(name, value): (&String, &Value)| {
        let value = if GENERATED.contains(&name.as_str()) { Value::Bool(true) } else { value.clone() };
        (name.clone(), value)
    };
    let metadata = |metadata: &Map<String, Value>| -> Map<_, _> {
        metadata.iter().filter(|(name, _)| *name != "resourceVersion").map(visible).collect()
    };
    let field = |(name, value): (&String, &Value)| match value.as_object().filter(|_| name == "metadata") {
        Some(fields) => (name.clone(), Value::Object(metadata(fields))),
        None => (name.clone(), value.clone()),
    };
    object.as_object().into_iter().flatten().map(field).collect::<Map<_, _>>().into()
}
