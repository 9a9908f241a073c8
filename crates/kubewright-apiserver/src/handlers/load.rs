//! Loads objects as they are, with their status and server-set metadata.

use std::sync::Arc;

use bytes::Bytes;
use futures::FutureExt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::{
    api::{
        endpoint::Endpoint,
        error::{ApiError, Result},
        object::Object,
    },
    authorization::user::User,
    controllers::controlled_state::ControlledState,
    handlers::{
        decode,
        request::ResourceRequest,
        write::{self, Verb, Write},
    },
    resource::{
        managed_fields::{self},
        metadata,
        registry::Resource,
    },
    storage::state::State,
    wire::{content::Encoding, negotiation::Representation, request::Query},
};

/// The manager of the fields of loaded objects without managed fields.
const MANAGER: &str = "load";

/// The error for an object that cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[error("{object} cannot be loaded: {detail}")]
pub struct LoadError {
    /// The kind and the key of the object, such as `Logger default/audit`.
    object: String,
    detail: String,
}

impl LoadError {
    /// Creates the error for input that cannot be decoded as an object.
    pub(crate) fn unreadable(detail: impl ToString) -> Self {
        LoadError { object: "an object".to_owned(), detail: detail.to_string() }
    }
}

/// Stores an object with its status, UID, timestamps and managed fields, and sets those that are missing. Creates its
/// namespace if that does not exist. The kind of a loaded definition is served.
pub(crate) fn load(state: &ControlledState, object: Value) -> Result<(), LoadError> {
    let description = describe(&object);
    let stored = match object.get("kind").and_then(Value::as_str) {
        // These have effects when they are created.
        Some("CustomResourceDefinition" | "Namespace") => create(state, object),
        _ => store(state, object),
    };
    stored.map_err(|error| LoadError { object: description, detail: error.message() })
}

/// Creates an object as a request does. Without webhooks, nothing is waited for.
fn create(state: &ControlledState, object: Value) -> Result<()> {
    let request = create_request(&state.lock(), object)?;
    let created = Write::new(state, &request, Verb::Create)?.run().now_or_never();
    created.map_or_else(|| Err(ApiError::internal("the object needs a webhook")), |created| created.map(drop))
}

fn store(state: &ControlledState, object: Value) -> Result<()> {
    let request = create_request(&state.lock(), object)?;
    let kind = &request.kind;
    let mut object = decode::object(&request)?;
    write::ensure_namespace(&mut object, &request)?;
    if kind.namespaced {
        ensure_namespace_exists(state, object.namespace())?;
    }
    let provided = std::mem::take(&mut object.metadata.managed_fields);
    if provided.is_none() {
        managed_fields::track(request.author(), None, &mut object);
    } else {
        object.metadata.managed_fields = provided;
    }
    initialise(kind, &mut object);
    state.load(|state| {
        if state.store.get(&kind.storage_key(), object.namespace(), object.name()).is_some() {
            return Err(ApiError::already_exists(kind, object.name()));
        }
        write::rules::check(&request, &object, None)?;
        kind.write(&mut object)?;
        state.store.put(&kind.storage_key(), object);
        Ok(())
    })?
}

/// Sets the server-set metadata that is missing.
fn initialise(kind: &Resource, object: &mut Object) {
    let provided = object.metadata.clone();
    metadata::fill_system_fields(kind.strategy.generation, object);
    let generated = std::mem::take(&mut object.metadata);
    object.metadata = ObjectMeta {
        uid: provided.uid.or(generated.uid),
        creation_timestamp: provided.creation_timestamp.or(generated.creation_timestamp),
        generation: provided.generation.or(generated.generation),
        deletion_timestamp: provided.deletion_timestamp,
        deletion_grace_period_seconds: provided.deletion_grace_period_seconds,
        resource_version: None,
        ..generated
    };
}

fn ensure_namespace_exists(state: &ControlledState, name: &str) -> Result<()> {
    if state.lock().store.get("namespaces", "", name).is_some() {
        return Ok(());
    }
    create(state, json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } }))
}

/// Returns the request that creates the object.
fn create_request(state: &State, object: Value) -> Result<ResourceRequest> {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (api_version, kind) = (text("/apiVersion"), text("/kind"));
    let served = state.registry.iter().find(|served| served.api_version() == api_version && served.kind == kind);
    let not_served = || ApiError::bad_request(format!("kind {kind:?} of {api_version:?} is not served"));
    let kind = Arc::clone(served.ok_or_else(not_served)?);
    let namespace = Some(text("/metadata/namespace")).filter(|_| kind.namespaced);
    Ok(ResourceRequest {
        user: Arc::new(User::administrator()),
        namespace: namespace.map(|namespace| if namespace.is_empty() { "default".to_owned() } else { namespace }),
        kind,
        name: None,
        endpoint: Endpoint::Main,
        query: Query::parse(""),
        manager: MANAGER.to_owned(),
        content_type: String::new(),
        body: Bytes::from(object.to_string()),
        representation: Representation::Object,
        encoding: Encoding::Json,
        strict_errors: Mutex::default(),
        warnings: Mutex::default(),
        webhooks: None,
    })
}

/// Returns the kind and the key of an object, such as `Logger default/audit`.
fn describe(object: &Value) -> String {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let (kind, namespace, name) = (text("/kind"), text("/metadata/namespace"), text("/metadata/name"));
    let slash = if namespace.is_empty() { "" } else { "/" };
    format!("{} {namespace}{slash}{name}", if kind.is_empty() { "an object without a kind" } else { kind })
}
