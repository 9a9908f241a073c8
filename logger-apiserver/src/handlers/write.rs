//! Create, update and patch: what a written object must obey, in the order the real server asks for it.

pub(crate) mod rules;

use std::sync::Arc;

use http::StatusCode;

use crate::{
    api::{
        endpoint::Endpoint,
        error::{ApiError, FieldError, Result},
        object::{Object, Stored},
    },
    handlers::{decode, request::ResourceRequest},
    lifecycle::{commit, namespaces},
    resource::{
        managed_fields, metadata, namespace, patch,
        registry::Resource,
        strategy::{Generation, Strategy},
    },
    storage::state::State,
};

/// The number of generated names that are tried.
const NAME_TRIES: usize = 8;

/// Makes a new object.
pub(crate) fn create(state: &mut State, request: &ResourceRequest) -> Result<Stored> {
    let options = request.write_options("CreateOptions")?;
    let mut object = decode::object(request)?;
    metadata::wipe(&mut object);
    place(&mut object, request)?;
    managed_fields::track(request.author(), None, &mut object);
    insert(state, request, object, options.dry_run)
}

/// Stores a new object if it obeys the rules and its name is free.
pub(crate) fn insert(
    state: &mut State,
    request: &ResourceRequest,
    mut object: Object,
    dry_run: bool,
) -> Result<Stored> {
    let kind = &request.kind;
    let version = object.metadata.resource_version.take();
    if state.registry.is_ending(kind) {
        let why = "create not allowed while custom resource definition is terminating";
        return Err(ApiError::forbidden(kind, object.name(), why));
    }
    if let Some(namespace) = &request.namespace {
        namespaces::check_exists(state, kind, namespace, object.name())?;
    }
    let name_given = object.metadata.name.is_some();
    give_name(state, kind, &mut object);
    metadata::initialise(kind.strategy.generation, &mut object);
    (kind.strategy.admit)(&state.store, kind, &mut object)?;
    prepare_create(kind, &mut object)?;
    rules::check(request, &object, None)?;
    (kind.strategy.allocate)(&state.store, kind, &mut object)?;
    kind.write(&mut object)?;
    // A dry run stores nothing, so this does not apply to it.
    if version.is_some() && !dry_run {
        return Err(ApiError::internal("resourceVersion should not be set on objects to be created"));
    }
    if let Some(there) = state.store.get(&kind.storage_key(), object.namespace(), object.name()) {
        let generated = !name_given || object.metadata.generate_name.is_some();
        let refusal = if generated { ApiError::not_unique } else { ApiError::already_exists }(kind, object.name());
        return Err(if there.is_terminating() { refusal.with_prefix("object is being deleted: ") } else { refusal });
    }
    if dry_run {
        object.metadata.resource_version = version;
        return kind.read(&Arc::new(object));
    }
    kind.read(&commit::store(state, kind, &object))
}

/// Puts another state in place of an object's (or, at `/status`, of its status).
/// What is not there is made, if the kind has it so.
pub(crate) fn update(state: &mut State, request: &ResourceRequest) -> Result<(StatusCode, Stored)> {
    let options = request.write_options("UpdateOptions")?;
    let mut object = decode::object(request)?;
    place(&mut object, request)?;
    check_name(&object, request)?;
    let old = match request.find(state)? {
        None if request.kind.strategy.allows_create_on_update => {
            object.metadata.resource_version = None;
            managed_fields::track(request.author(), None, &mut object);
            return Ok((StatusCode::CREATED, insert(state, request, object, options.dry_run)?));
        }
        found => found.ok_or_else(|| ApiError::not_found(&request.kind, request.name()))?,
    };
    check_uid(request, &object, &old)?;
    check_version(&request.kind, &object, &old)?;
    managed_fields::track(request.author(), Some(&old), &mut object);
    Ok((StatusCode::OK, replace(state, request, object, &old, options.dry_run)?))
}

/// Changes an object (or, at `/status`, its status) by a patch of its stored state.
pub(crate) fn patch(state: &mut State, request: &ResourceRequest) -> Result<Stored> {
    let kind = &request.kind;
    patch::check_media_type(&request.content_type, kind.is_custom)?;
    let options = request.patch_options()?;
    let old = request.existing(state)?;
    let mut outcome = old.to_json(&kind.api_version(), &kind.kind);
    request.strict_errors.replace(patch::apply(&request.content_type, &request.body, Some(kind), &mut outcome)?);
    let mut object = decode::patched(request, outcome)?;
    place(&mut object, request)?;
    check_name(&object, request)?;
    check_version(kind, &object, &old)?;
    managed_fields::track(request.author(), Some(&old), &mut object);
    replace(state, request, object, &old, options.dry_run)
}

/// Puts `new` in place of `old` if it obeys the rules of the endpoint.
pub(crate) fn replace(
    state: &mut State,
    request: &ResourceRequest,
    mut new: Object,
    old: &Stored,
    dry_run: bool,
) -> Result<Stored> {
    let kind = &request.kind;
    prepare_update(request, &mut new, old)?;
    managed_fields::keep_times(&mut new, old);
    rules::check(request, &new, Some(old))?;
    (kind.strategy.allocate)(&state.store, kind, &mut new)?;
    let mut written = new.clone();
    kind.write(&mut written)?;
    if state.store.get(&kind.storage_key(), old.namespace(), old.name()).is_some_and(|stored| written == *stored) {
        return Ok(old.clone());
    }
    let stored = if dry_run { Arc::new(written) } else { commit::commit(state, kind, &written) };
    // What is not stored is not read again, either.
    if stored.should_delete() && kind.is_custom { Ok(Arc::new(new)) } else { kind.read(&stored) }
}

/// The namespace is the one in the path: the body may leave it out, but not say another.
pub(crate) fn place(object: &mut Object, request: &ResourceRequest) -> Result<()> {
    let Some(namespace) = &request.namespace else {
        return Ok(());
    };
    match object.metadata.namespace.as_ref() {
        Some(other) if other != namespace => Err(ApiError::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        )),
        _ => {
            object.metadata.namespace = Some(namespace.clone());
            Ok(())
        }
    }
}

fn give_name(state: &State, kind: &Resource, object: &mut Object) {
    let (None, Some(prefix)) = (&object.metadata.name, &object.metadata.generate_name) else {
        return;
    };
    let is_free = |name: &String| state.store.get(&kind.storage_key(), object.namespace(), name).is_none();
    let generated = (0..NAME_TRIES).map(|_| metadata::generate_name(prefix)).find(is_free);
    object.metadata.name = Some(generated.unwrap_or_else(|| metadata::generate_name(prefix)));
}

/// The name is the one in the path, and has to be said again.
pub(crate) fn check_name(object: &Object, request: &ResourceRequest) -> Result<()> {
    let (name, expected) = (object.name(), request.name());
    if name.is_empty() {
        let why = "was undeterminable: name must be provided";
        return Err(ApiError::bad_request(format!("the name of the object ({expected} based on URL) {why}")));
    }
    if name != expected {
        let message = format!("the name of the object ({name}) does not match the name on the URL ({expected})");
        return Err(ApiError::bad_request(message));
    }
    Ok(())
}

/// Optimistic concurrency: a write that names a version is for that version alone.
pub(crate) fn check_version(kind: &Resource, object: &Object, old: &Object) -> Result<()> {
    let version = object.resource_version();
    if matches!(version, "" | "0") && kind.strategy.allows_unconditional_update {
        return Ok(());
    }
    if version.is_empty() || version == "0" {
        let error = FieldError::invalid("metadata.resourceVersion", 0, "must be specified for an update");
        return Err(ApiError::invalid_of(&kind.plural, &kind.group, old.name(), &[error]));
    }
    if version.parse::<u64>().is_err() {
        return Err(ApiError::internal(format!("strconv.ParseUint: parsing {version:?}: invalid syntax")));
    }
    if version != old.resource_version() {
        return Err(ApiError::modified(kind, old.name()));
    }
    Ok(())
}

/// A write that names a uid is for the object that has it, not for another of the same name.
pub(crate) fn check_uid(request: &ResourceRequest, object: &Object, old: &Object) -> Result<()> {
    if object.uid().is_empty() || object.uid() == old.uid() {
        return Ok(());
    }
    let kind = &request.kind;
    let namespace = request.namespace.as_ref().map(|namespace| format!("{namespace}/")).unwrap_or_default();
    let place = if kind.is_custom { format!("{}/{}", kind.group, kind.plural) } else { kind.plural.clone() };
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: /registry/{place}/{namespace}{}, ResourceVersion: 0, AdditionalErrorMsg: \
         Precondition failed: UID in precondition: {}, UID in object meta: {}",
        old.name(),
        object.uid(),
        old.uid(),
    );
    Err(ApiError::conflict(kind, old.name(), &why))
}

fn prepare_create(kind: &Resource, object: &mut Object) -> Result<()> {
    if kind.has_status {
        object.body.remove("status");
    }
    (kind.strategy.prepare_for_create)(object)
}

/// `/status` changes the status alone; the other endpoints leave it alone, and count generations of the rest.
fn prepare_update(request: &ResourceRequest, new: &mut Object, old: &Object) -> Result<()> {
    let kind = &request.kind;
    match request.endpoint {
        Endpoint::Status => {
            prepare_status_update(kind, new, old);
            (kind.strategy.propagate)(new, old);
            return Ok(());
        }
        Endpoint::Finalize => {
            namespace::prepare_finalize(new, old);
            return Ok(());
        }
        Endpoint::Main | Endpoint::Pod(_) | Endpoint::Scale(_) => {}
    }
    metadata::carry_over(new, old);
    if kind.has_status {
        new.copy_field(old, "status");
    }
    (kind.strategy.prepare_for_update)(new, old)?;
    (kind.strategy.propagate)(new, old);
    let counts = match kind.strategy.generation {
        Generation::Unset | Generation::Constant => false,
        Generation::Content => new.content_differs(old, !kind.has_status),
        Generation::ContentAndAnnotations => {
            new.content_differs(old, !kind.has_status) || new.metadata.annotations != old.metadata.annotations
        }
    };
    if counts {
        new.metadata.generation = new.metadata.generation.map(|generation| generation + 1);
    }
    Ok(())
}

/// A custom kind's `/status` leaves the metadata alone, too; the built-in ones' does not.
fn prepare_status_update(kind: &Resource, new: &mut Object, old: &Object) {
    metadata::carry_over(new, old);
    if kind.is_custom {
        let written = std::mem::replace(&mut new.metadata, old.metadata.clone());
        new.metadata.managed_fields = written.managed_fields;
    }
    reset_fields(kind.strategy, new, old);
    let status = new.body.remove("status");
    new.body.clone_from(&old.body);
    // A null that is applied takes a custom status away.
    match status.filter(|status| !(kind.is_custom && status.is_null())) {
        Some(status) => new.body.insert("status".to_owned(), status),
        None => new.body.remove("status"),
    };
}

/// Puts back what a write of the status does not change beside the spec. No write changes when an object was deleted.
fn reset_fields(strategy: &Strategy, new: &mut Object, old: &Object) {
    for path in strategy.status_reset_fields {
        match path {
            ["metadata", "labels"] => new.metadata.labels.clone_from(&old.metadata.labels),
            ["metadata", "ownerReferences"] => new.metadata.owner_references.clone_from(&old.metadata.owner_references),
            _ => {}
        }
    }
}
