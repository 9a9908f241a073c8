//! Prepares written objects: what the server sets, and what a request does not change at its endpoint.

use crate::{
    api::{endpoint::Endpoint, error::Result, object::Object},
    handlers::request::ResourceRequest,
    resource::{
        managed_fields, metadata, namespace, pod_subresources,
        registry::Resource,
        strategy::{Generation, Strategy},
    },
    storage::state::State,
};

/// The maximum number of attempts to generate a unique name.
const MAX_NAME_ATTEMPTS: usize = 8;

/// Prepares a new object.
///
/// # Errors
/// The object refers to something that does not exist, or it cannot be prepared.
pub(super) fn create(state: &State, request: &ResourceRequest, object: &mut Object) -> Result<()> {
    let kind = &request.kind;
    (kind.strategy.set_user)(object, &request.user);
    generate_name(state, request, object);
    metadata::fill_system_fields(kind.strategy.generation, object);
    (kind.strategy.admit)(&state.store, kind, object)?;
    if kind.has_status && !kind.strategy.creates_status {
        object.body.remove("status");
    }
    (kind.strategy.prepare_for_create)(object)
}

/// Generates the name of an object that has only a prefix.
fn generate_name(state: &State, request: &ResourceRequest, object: &mut Object) {
    let (None, Some(prefix)) = (&object.metadata.name, &object.metadata.generate_name) else {
        return;
    };
    let key = request.kind.storage_key();
    let is_available = |name: &String| state.store.get(&key, object.namespace(), name).is_none();
    let generated = (0..MAX_NAME_ATTEMPTS).map(|_| metadata::generate_name(prefix)).find(is_available);
    object.metadata.name = Some(generated.unwrap_or_else(|| metadata::generate_name(prefix)));
}

/// Prepares an update: `/status` changes only the status. Other endpoints preserve the status, and increment the
/// generation if the content changes.
///
/// # Errors
/// The object cannot be prepared.
pub(super) fn update(request: &ResourceRequest, new: &mut Object, old: &Object) -> Result<()> {
    prepare_endpoint(request, new, old)?;
    managed_fields::ignore_timestamp_changes(new, old);
    Ok(())
}

fn prepare_endpoint(request: &ResourceRequest, new: &mut Object, old: &Object) -> Result<()> {
    let kind = &request.kind;
    match request.endpoint {
        Endpoint::Status | Endpoint::Approval => {
            prepare_status_update(kind, new, old);
            (kind.strategy.prepare_for_subresource)(&request.endpoint, kind, new, old)?;
            (kind.strategy.propagate)(new, old);
            return Ok(());
        }
        Endpoint::Finalize => {
            namespace::prepare_finalize(new, old);
            return Ok(());
        }
        Endpoint::Main | Endpoint::Pod(_) | Endpoint::Token | Endpoint::Scale(_) => {}
    }
    // What mutating admission changed.
    pod_subresources::drop_other_changes(&request.endpoint, new, old);
    metadata::preserve_system_fields(new, old);
    if kind.has_status {
        new.copy_field(old, "status");
    }
    (kind.strategy.prepare_for_update)(new, old)?;
    (kind.strategy.propagate)(new, old);
    let content_changed = match kind.strategy.generation {
        Generation::Unset | Generation::Constant => false,
        Generation::Content | Generation::Updates => new.content_differs(old, !kind.has_status),
        Generation::ContentAndAnnotations => {
            new.content_differs(old, !kind.has_status) || new.metadata.annotations != old.metadata.annotations
        }
    };
    if content_changed {
        new.metadata.generation = Some(new.metadata.generation.unwrap_or_default() + 1);
    }
    Ok(())
}

/// Prepares an update of the status. For custom kinds, and for few built-in kinds, it preserves the metadata as well.
fn prepare_status_update(kind: &Resource, new: &mut Object, old: &Object) {
    metadata::preserve_system_fields(new, old);
    if kind.is_custom || kind.strategy.preserves_metadata_in_status {
        let metadata = std::mem::replace(&mut new.metadata, old.metadata.clone());
        new.metadata.managed_fields = metadata.managed_fields;
    }
    reset_fields(kind.strategy, new, old);
    let status = new.body.remove("status");
    new.body.clone_from(&old.body);
    // An applied null removes the status of a custom object.
    match status.filter(|status| !(kind.is_custom && status.is_null())) {
        Some(status) => new.body.insert("status".to_owned(), status),
        None => new.body.remove("status"),
    };
}

/// Resets the metadata fields that an update of the status must not change.
fn reset_fields(strategy: &Strategy, new: &mut Object, old: &Object) {
    for path in strategy.status_reset_fields {
        match path {
            ["metadata", "labels"] => new.metadata.labels.clone_from(&old.metadata.labels),
            ["metadata", "ownerReferences"] => new.metadata.owner_references.clone_from(&old.metadata.owner_references),
            _ => {}
        }
    }
}
