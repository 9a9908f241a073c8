//! The verbs `create`, `update` and `patch`, with the checks of the real server in its order.

mod admission;
pub(crate) mod escalation;
pub(crate) mod rules;
mod signers;

use std::sync::Arc;

use http::StatusCode;

use crate::{
    api::{
        endpoint::Endpoint,
        error::{ApiError, FieldError, Result},
        object::{Object, Stored},
    },
    authorization::attributes::Attributes,
    handlers::{
        decode,
        policies::{AdmissionPolicies, Operation},
        request::ResourceRequest,
        webhooks,
    },
    lifecycle::{commit, namespaces},
    resource::{
        managed_fields, metadata, namespace, patch, pod_subresources,
        registry::Resource,
        request_size,
        strategy::{Generation, Strategy},
    },
    storage::state::State,
};

/// The maximum number of attempts to generate a unique name.
const MAX_NAME_ATTEMPTS: usize = 8;

/// Creates an object.
pub(crate) fn create(state: &mut State, request: &ResourceRequest) -> Result<Stored> {
    let options = request.write_options("CreateOptions")?;
    let mut object = decode::object(request)?;
    metadata::wipe_system_fields(&mut object);
    ensure_namespace(&mut object, request)?;
    request.track(None, &mut object)?;
    insert(state, request, object, options.dry_run)
}

/// Stores a new object if it is valid and its name is available.
pub(crate) fn insert(
    state: &mut State,
    request: &ResourceRequest,
    mut object: Object,
    dry_run: bool,
) -> Result<Stored> {
    let kind = &request.kind;
    let version = object.metadata.resource_version.take();
    if state.registry.is_ending(kind) {
        let detail = "create not allowed while custom resource definition is terminating";
        return Err(ApiError::forbidden(kind, object.name(), detail));
    }
    if let Some(namespace) = &request.namespace {
        namespaces::check_exists(state, kind, namespace, object.name())?;
    }
    let policies = AdmissionPolicies { request, operation: Operation::Create, dry_run };
    let mut object = policies.mutate(state, object, None)?;
    webhooks::mutate(state, request, &mut object, None, dry_run)?;
    ensure_namespace(&mut object, request)?;
    escalation::check(state, request, &object, None)?;
    (kind.strategy.set_user)(&mut object, &request.user);
    let has_name = object.metadata.name.is_some();
    generate_name(state, request, &mut object);
    metadata::fill_system_fields(kind.strategy.generation, &mut object);
    (kind.strategy.admit)(&state.store, kind, &mut object)?;
    prepare_create(kind, &mut object)?;
    rules::check(request, &object, None)?;
    authorize_creation(state, request)?;
    policies.validate(state, Some(&object), None)?;
    webhooks::validate_new(state, request, &mut object, dry_run)?;
    let charges = admission::validate(state, request, &object, None)?;
    (kind.strategy.allocate)(&state.store, kind, &mut object)?;
    kind.write(&mut object)?;
    // A dry run stores nothing, so this does not apply to it.
    if version.is_some() && !dry_run {
        return Err(ApiError::internal("resourceVersion should not be set on objects to be created"));
    }
    if !dry_run {
        ensure_storable(request, &mut object, None)?;
    }
    if let Some(existing) = state.store.get(&kind.storage_key(), object.namespace(), object.name()) {
        let generated = !has_name || object.metadata.generate_name.is_some();
        let error = if generated { ApiError::not_unique } else { ApiError::already_exists }(kind, object.name());
        return Err(if existing.is_terminating() { error.with_prefix("object is being deleted: ") } else { error });
    }
    if dry_run {
        object.metadata.resource_version = version;
        return kind.read(&Arc::new(object));
    }
    kind.prepare_read(&object)?;
    admission::store_charges(state, &charges);
    kind.read(&commit::store(state, kind, object))
}

/// Authorizes an update or a patch that creates its object: it needs the verb `create` besides its own.
fn authorize_creation(state: &mut State, request: &ResourceRequest) -> Result<()> {
    let Some(name) = &request.name else { return Ok(()) };
    let (kind, user) = (&request.kind, &request.user);
    // A namespace is also inside itself.
    let is_namespace = kind.plural == "namespaces" && kind.group.is_empty();
    let namespace = if is_namespace { Some(name) } else { request.namespace.as_ref() };
    let attributes = Attributes {
        verb: "create".to_owned(),
        group: kind.group.clone(),
        resource: kind.plural.clone(),
        namespace: namespace.cloned().unwrap_or_default(),
        name: name.clone(),
        ..Attributes::default()
    };
    let decision = state.authorize(user, &attributes);
    if decision.allowed { Ok(()) } else { Err(attributes.forbidden(user, &decision.reason)) }
}

/// Replaces an object (or, at `/status`, its status). An object that does not exist is created if the kind allows that.
pub(crate) fn update(state: &mut State, request: &ResourceRequest) -> Result<(StatusCode, Stored)> {
    let options = request.write_options("UpdateOptions")?;
    let mut object = decode::object(request)?;
    ensure_namespace(&mut object, request)?;
    check_name(&object, request)?;
    let old = match request.find(state)? {
        None if request.kind.strategy.allows_create_on_update => {
            object.metadata.resource_version = None;
            request.track(None, &mut object)?;
            return Ok((StatusCode::CREATED, insert(state, request, object, options.dry_run)?));
        }
        found => found.ok_or_else(|| ApiError::not_found(&request.kind, request.name()))?,
    };
    request.track(Some(&old), &mut object)?;
    pod_subresources::drop_other_changes(&request.endpoint, &mut object, &old);
    mutate(state, request, &mut object, &old, options.dry_run)?;
    escalation::check(state, request, &object, Some(&old))?;
    check_uid(request, &object, &old)?;
    check_version(&request.kind, &object, &old)?;
    Ok((StatusCode::OK, replace(state, request, object, &old, options.dry_run)?))
}

/// Patches an object (or, at `/status`, its status).
pub(crate) fn patch(state: &mut State, request: &ResourceRequest) -> Result<Stored> {
    let kind = &request.kind;
    patch::check_media_type(&request.content_type, kind.is_custom)?;
    let options = request.patch_options()?;
    let old = request.existing(state)?;
    let mut outcome = old.to_json(&kind.api_version(), &kind.kind);
    request.strict_errors.replace(patch::apply(&request.content_type, &request.body, Some(kind), &mut outcome)?);
    let mut object = decode::patched(request, outcome)?;
    ensure_namespace(&mut object, request)?;
    check_name(&object, request)?;
    pod_subresources::drop_other_changes(&request.endpoint, &mut object, &old);
    request.track(Some(&old), &mut object)?;
    mutate(state, request, &mut object, &old, options.dry_run)?;
    escalation::check(state, request, &object, Some(&old))?;
    check_version(kind, &object, &old)?;
    replace(state, request, object, &old, options.dry_run)
}

/// Calls the mutating webhooks of an update. They change neither the name nor the namespace.
pub(crate) fn mutate(
    state: &State,
    request: &ResourceRequest,
    object: &mut Object,
    old: &Stored,
    dry_run: bool,
) -> Result<()> {
    webhooks::mutate(state, request, object, Some(old), dry_run)?;
    ensure_namespace(object, request)?;
    check_name(object, request)
}

/// Replaces `old` with `new` if that is valid at the endpoint.
pub(crate) fn replace(
    state: &mut State,
    request: &ResourceRequest,
    new: Object,
    old: &Stored,
    dry_run: bool,
) -> Result<Stored> {
    let kind = &request.kind;
    let policies = AdmissionPolicies { request, operation: Operation::Update, dry_run };
    signers::check(state, request, &new, old)?;
    let mut new = policies.mutate(state, new, Some(old))?;
    prepare_update(request, &mut new, old)?;
    managed_fields::ignore_timestamp_changes(&mut new, old);
    rules::check(request, &new, Some(old))?;
    policies.validate(state, Some(&new), Some(old))?;
    webhooks::validate_update(state, request, &new, old, dry_run)?;
    let charges = admission::validate(state, request, &new, Some(old))?;
    (kind.strategy.allocate)(&state.store, kind, &mut new)?;
    // A removed custom object is not stored, so it is not converted back from the storage version.
    let removed = (kind.is_custom && new.should_delete()).then(|| new.clone());
    let mut written = new;
    kind.write(&mut written)?;
    if state.store.get(&kind.storage_key(), old.namespace(), old.name()).is_some_and(|stored| written == *stored) {
        return Ok(old.clone());
    }
    // A removed object is not stored.
    if !dry_run && !written.should_delete() {
        ensure_storable(request, &mut written, Some(old))?;
        kind.prepare_read(&written)?;
        admission::store_charges(state, &charges);
    }
    let stored = if dry_run { Arc::new(written) } else { commit::commit(state, kind, written) };
    removed.map_or_else(|| kind.read(&stored), |removed| Ok(Arc::new(removed)))
}

/// Rejects an object that is too large to be stored. Removes its managed fields if it can be stored without them,
/// unless the request is an apply.
fn ensure_storable(request: &ResourceRequest, object: &mut Object, old: Option<&Object>) -> Result<()> {
    match request_size::check(&request.kind, object, old) {
        Err(_) if !request.is_apply() => {
            object.metadata.managed_fields = None;
            request_size::check(&request.kind, object, old)
        }
        checked => checked,
    }
}

/// Sets the namespace to the one in the path. Rejects an object with another namespace.
pub(crate) fn ensure_namespace(object: &mut Object, request: &ResourceRequest) -> Result<()> {
    let Some(namespace) = &request.namespace else {
        return Ok(());
    };
    match object.metadata.namespace.as_ref() {
        Some(other) if other != namespace => Err(ApiError::namespace_mismatch()),
        _ => {
            object.metadata.namespace = Some(namespace.clone());
            Ok(())
        }
    }
}

/// Generates the name of an object that has only a prefix. It is the same in each attempt to handle the request.
fn generate_name(state: &State, request: &ResourceRequest, object: &mut Object) {
    let (None, Some(prefix)) = (&object.metadata.name, &object.metadata.generate_name) else {
        return;
    };
    let key = request.kind.storage_key();
    let is_available = |name: &String| state.store.get(&key, object.namespace(), name).is_none();
    let generate = || {
        let generated = (0..MAX_NAME_ATTEMPTS).map(|_| metadata::generate_name(prefix)).find(is_available);
        generated.unwrap_or_else(|| metadata::generate_name(prefix))
    };
    let generated = request.webhooks.as_ref().map_or_else(generate, |session| session.generated_name(generate));
    object.metadata.name = Some(generated);
}

/// Rejects an object without a name, or with another name than the one in the path.
pub(crate) fn check_name(object: &Object, request: &ResourceRequest) -> Result<()> {
    let (name, expected) = (object.name(), request.name());
    if name.is_empty() {
        let detail = "was undeterminable: name must be provided";
        return Err(ApiError::bad_request(format!("the name of the object ({expected} based on URL) {detail}")));
    }
    if name != expected {
        let message = format!("the name of the object ({name}) does not match the name on the URL ({expected})");
        return Err(ApiError::bad_request(message));
    }
    Ok(())
}

/// Optimistic concurrency: rejects a write with another resource version than the current one.
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

/// Rejects a write with another UID than that of the existing object.
pub(crate) fn check_uid(request: &ResourceRequest, object: &Object, old: &Object) -> Result<()> {
    if object.uid().is_empty() || object.uid() == old.uid() {
        return Ok(());
    }
    let kind = &request.kind;
    let namespace = request.namespace.as_ref().map(|namespace| format!("{namespace}/")).unwrap_or_default();
    let prefix = if kind.is_custom { format!("{}/{}", kind.group, kind.plural) } else { kind.plural.clone() };
    let detail = format!(
        "StorageError: invalid object, Code: 4, Key: /registry/{prefix}/{namespace}{}, ResourceVersion: 0, AdditionalErrorMsg: \
         Precondition failed: UID in precondition: {}, UID in object meta: {}",
        old.name(),
        object.uid(),
        old.uid(),
    );
    Err(ApiError::conflict(kind, old.name(), &detail))
}

fn prepare_create(kind: &Resource, object: &mut Object) -> Result<()> {
    if kind.has_status && !kind.strategy.creates_status {
        object.body.remove("status");
    }
    (kind.strategy.prepare_for_create)(object)
}

/// Prepares an update: `/status` changes only the status. Other endpoints preserve the status, and increment the
/// generation if the content changes.
fn prepare_update(request: &ResourceRequest, new: &mut Object, old: &Object) -> Result<()> {
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
