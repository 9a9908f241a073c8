//! Loading: objects put into the server as they are, as if they had been there before the first request.

use std::{cell::RefCell, sync::Arc};

use bytes::Bytes;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Value, json};

use crate::{
    api::{
        endpoint::Endpoint,
        error::{ApiError, Result},
        object::{Object, Stored},
    },
    handlers::{decode, request::ResourceRequest, write},
    resource::{
        managed_fields::{self},
        metadata,
        registry::Resource,
    },
    storage::state::State,
    wire::{content::Encoding, negotiation::Representation, request::Query},
};

/// Who is said to own the fields of loaded objects that do not say it themselves.
const MANAGER: &str = "load";

/// An object that cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[error("{object} cannot be loaded: {why}")]
pub struct LoadError {
    /// Such as `Logger default/audit`.
    object: String,
    why: String,
}

impl LoadError {
    /// Of what could not even be read as an object.
    pub(crate) fn unreadable(why: impl ToString) -> Self {
        LoadError { object: "an object".to_owned(), why: why.to_string() }
    }
}

/// Stores an object with the status, uid, times and owners it has, and gives it those it lacks. The namespace it is in is
/// made if it is not there. A definition brings its kind.
pub(crate) fn load(state: &mut State, object: Value) -> Result<(), LoadError> {
    let shown = shown(&object);
    let stored = match object.get("kind").and_then(Value::as_str) {
        // These take effect when they are made, so they are made.
        Some("CustomResourceDefinition" | "Namespace") => create(state, object),
        _ => keep(state, object),
    };
    stored.map(drop).map_err(|refusal| LoadError { object: shown, why: refusal.message() })
}

fn create(state: &mut State, object: Value) -> Result<Stored> {
    let request = call(state, object)?;
    write::create(state, &request)
}

fn keep(state: &mut State, object: Value) -> Result<Stored> {
    let request = call(state, object)?;
    let kind = &request.kind;
    let mut object = decode::object(&request)?;
    write::place(&mut object, &request)?;
    if kind.namespaced {
        make_namespace(state, object.namespace())?;
    }
    if state.store.get(&kind.storage_key(), object.namespace(), object.name()).is_some() {
        return Err(ApiError::already_exists(kind, object.name()));
    }
    let given = std::mem::take(&mut object.metadata.managed_fields);
    if given.is_none() {
        managed_fields::track(request.author(), None, &mut object);
    } else {
        object.metadata.managed_fields = given;
    }
    initialise(kind, &mut object);
    write::rules::check(&request, &object, None)?;
    kind.write(&mut object)?;
    Ok(state.store.put(&kind.storage_key(), &object))
}

/// What a new object gets, where it does not say it itself.
fn initialise(kind: &Resource, object: &mut Object) {
    let given = object.metadata.clone();
    metadata::initialise(kind.strategy.generation, object);
    let made = std::mem::take(&mut object.metadata);
    object.metadata = ObjectMeta {
        uid: given.uid.or(made.uid),
        creation_timestamp: given.creation_timestamp.or(made.creation_timestamp),
        generation: given.generation.or(made.generation),
        deletion_timestamp: given.deletion_timestamp,
        deletion_grace_period_seconds: given.deletion_grace_period_seconds,
        resource_version: None,
        ..made
    };
}

fn make_namespace(state: &mut State, name: &str) -> Result<()> {
    if state.store.get("namespaces", "", name).is_some() {
        return Ok(());
    }
    create(state, json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } })).map(drop)
}

/// The request that would make the object.
fn call(state: &State, object: Value) -> Result<ResourceRequest> {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (api_version, kind) = (text("/apiVersion"), text("/kind"));
    let served = state.registry.iter().find(|known| known.api_version() == api_version && known.kind == kind);
    let not_served = || ApiError::bad_request(format!("kind {kind:?} of {api_version:?} is not served"));
    let kind = Arc::clone(served.ok_or_else(not_served)?);
    let namespace = Some(text("/metadata/namespace")).filter(|_| kind.namespaced);
    Ok(ResourceRequest {
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
        strict_errors: RefCell::default(),
        warnings: RefCell::default(),
    })
}

/// `Logger default/audit`
fn shown(object: &Value) -> String {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let (kind, namespace, name) = (text("/kind"), text("/metadata/namespace"), text("/metadata/name"));
    let slash = if namespace.is_empty() { "" } else { "/" };
    format!("{} {namespace}{slash}{name}", if kind.is_empty() { "an object without a kind" } else { kind })
}
