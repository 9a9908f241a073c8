//! The write pipeline, in this order for each verb: decode, mutate, prepare, validate, commit.
//!
//! Guarantees:
//! - The state is locked only while it is read or changed: webhooks, which may use this server, are called without the
//!   lock.
//! - What is stored is what was validated, in place of the object that it was validated against. If another request has
//!   changed that object in between, the write starts again with the current one, as in the real server.
//! - A write that fails before its commit changes nothing.
//!
//! The order of the steps is that of the real server (`registry/generic/registry/store.go` and `endpoints/handlers` of
//! apiserver 1.36).

mod admission;
mod apply;
mod escalation;
mod preconditions;
mod prepare;
pub(crate) mod rules;
pub(crate) mod scale;

use std::sync::Arc;

pub(crate) use self::preconditions::ensure_namespace;
use self::preconditions::{check_name, check_uid, check_version};
use crate::{
    api::{
        endpoint::Endpoint,
        error::{ApiError, Result},
        object::{Object, Stored},
    },
    authorization::attributes::Attributes,
    controllers::controlled_state::ControlledState,
    handlers::{
        admission_policies::{AdmissionPolicies, Operation},
        decode,
        request::{Options, ResourceRequest},
        webhooks,
    },
    lifecycle::{commit, namespaces},
    resource::{metadata, patch, pod_subresources, request_size},
    storage::state::State,
};

/// How the body of a write becomes an object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Verb {
    Create,
    Update,
    Patch,
    Apply,
}

/// A write of one object, or of a subresource of it.
pub(crate) struct Write<'a> {
    state: &'a ControlledState,
    request: &'a ResourceRequest,
    verb: Verb,
    options: Options,
}

/// The object that a write stores.
struct New {
    object: Object,
    /// The resource version in the body of an object that is created, which has none yet.
    version: Option<String>,
}

/// The result of a write, in the version of the request.
pub(crate) struct Written {
    pub(crate) object: Stored,
    pub(crate) is_created: bool,
}

impl<'a> Write<'a> {
    /// Creates the write of a request.
    ///
    /// # Errors
    /// The options of the request are invalid, or the kind does not support the patch type.
    pub(crate) fn new(state: &'a ControlledState, request: &'a ResourceRequest, verb: Verb) -> Result<Self> {
        if verb == Verb::Patch {
            patch::check_media_type(&request.content_type, request.kind.is_custom)?;
        }
        let options = match verb {
            Verb::Create => request.write_options("CreateOptions")?,
            Verb::Update => request.write_options("UpdateOptions")?,
            Verb::Patch | Verb::Apply => request.patch_options()?,
        };
        Ok(Self { state, request, verb, options })
    }

    /// Performs the write.
    ///
    /// # Errors
    /// The object is invalid or not admitted, or it conflicts with the stored one.
    pub(crate) async fn run(&self) -> Result<Written> {
        let mut attempts = self.request.attempts(self.request.name());
        loop {
            attempts.begin()?;
            if let Some(written) = self.attempt().await? {
                return Ok(written);
            }
        }
    }

    /// Returns `None` if another request has changed the object in between.
    async fn attempt(&self) -> Result<Option<Written>> {
        let (new, old) = self.decode().await?;
        let old = old.as_ref();
        let new = self.mutate(new, old).await?;
        let new = self.prepare(new, old)?;
        self.validate(&new.object, old).await?;
        self.commit(new, old).await
    }

    /// Decodes the object, and returns the stored one that it replaces.
    async fn decode(&self) -> Result<(New, Option<Stored>)> {
        if let Endpoint::Scale(paths) = &self.request.endpoint {
            return self.decode_scale(paths).await;
        }
        match self.verb {
            Verb::Create => self.decode_created().await,
            Verb::Update => self.decode_updated().await,
            Verb::Patch => self.decode_patched().await,
            Verb::Apply => self.decode_applied().await,
        }
    }

    async fn decode_created(&self) -> Result<(New, Option<Stored>)> {
        let mut object = decode::object(self.request)?;
        metadata::wipe_system_fields(&mut object);
        ensure_namespace(&mut object, self.request)?;
        let mut object = self.request.track(None, object).await;
        let version = object.metadata.resource_version.take();
        Ok((New { object, version }, None))
    }

    /// An object that does not exist is created if the kind allows that.
    async fn decode_updated(&self) -> Result<(New, Option<Stored>)> {
        let request = self.request;
        let mut object = decode::object(request)?;
        ensure_namespace(&mut object, request)?;
        check_name(&object, request)?;
        let old = match request.find(self.state).await? {
            None if request.kind.strategy.allows_create_on_update => None,
            found => Some(found.ok_or_else(|| ApiError::not_found(&request.kind, request.name()))?),
        };
        if old.is_none() {
            object.metadata.resource_version = None;
        }
        let mut object = request.track(old.as_deref(), object).await;
        if let Some(old) = &old {
            pod_subresources::drop_other_changes(&request.endpoint, &mut object, old);
        }
        Ok((New { object, version: None }, old))
    }

    async fn decode_patched(&self) -> Result<(New, Option<Stored>)> {
        let (request, kind) = (self.request, &self.request.kind);
        let old = self.existing().await?;
        let mut outcome = old.to_json(&kind.api_version(), &kind.kind);
        *request.strict_errors.lock() = patch::apply(&request.content_type, &request.body, Some(kind), &mut outcome)?;
        let mut object = decode::patched(request, outcome)?;
        ensure_namespace(&mut object, request)?;
        check_name(&object, request)?;
        pod_subresources::drop_other_changes(&request.endpoint, &mut object, &old);
        let object = request.track(Some(&old), object).await;
        Ok((New { object, version: None }, Some(old)))
    }

    /// Returns the object that the request names.
    async fn existing(&self) -> Result<Stored> {
        let found = self.request.find(self.state).await?;
        found.ok_or_else(|| ApiError::not_found(&self.request.kind, self.request.name()))
    }

    /// Changes the object by mutating admission, and checks the result against the stored object.
    async fn mutate(&self, new: New, old: Option<&Stored>) -> Result<New> {
        let (state, request, dry_run) = (self.state, self.request, self.options.dry_run);
        if old.is_none() {
            self.check_parents(&state.lock(), &new.object)?;
        }
        let object = self.policies(old).mutate(state, new.object, old).await?;
        let mut object = webhooks::mutate(state, request, object, old, dry_run).await?;
        ensure_namespace(&mut object, request)?;
        escalation::check(&mut state.lock(), request, &object, old.map(|old| &**old))?;
        if let Some(old) = old {
            check_name(&object, request)?;
            self.check_old(&object, old)?;
        }
        Ok(New { object, ..new })
    }

    /// Rejects an object in a namespace, or of a definition, that does not exist or is being deleted.
    fn check_parents(&self, state: &State, object: &Object) -> Result<()> {
        let kind = &self.request.kind;
        if state.registry.is_ending(kind) {
            let detail = "create not allowed while custom resource definition is terminating";
            return Err(ApiError::forbidden(kind, object.name(), detail));
        }
        match &self.request.namespace {
            Some(namespace) => namespaces::check_exists(state, kind, namespace, object.name()),
            None => Ok(()),
        }
    }

    /// Rejects an update of another object, or of another version, than the stored one.
    fn check_old(&self, object: &Object, old: &Object) -> Result<()> {
        // That of a Scale is checked when it is decoded.
        if matches!(self.request.endpoint, Endpoint::Scale(_)) {
            return Ok(());
        }
        if self.verb == Verb::Update {
            check_uid(self.request, object, old)?;
        }
        check_version(&self.request.kind, object, old)
    }

    fn policies(&self, old: Option<&Stored>) -> AdmissionPolicies<'a> {
        let operation = if old.is_some() { Operation::Update } else { Operation::Create };
        AdmissionPolicies { request: self.request, operation, dry_run: self.options.dry_run }
    }

    /// Sets what the server sets, and resets what the endpoint does not change.
    fn prepare(&self, mut new: New, old: Option<&Stored>) -> Result<New> {
        match old {
            None => prepare::create(&self.state.lock(), self.request, &mut new.object)?,
            Some(old) => prepare::update(self.request, &mut new.object, old)?,
        }
        Ok(new)
    }

    /// Validates the object by the rules of its kind and by validating admission.
    async fn validate(&self, object: &Object, old: Option<&Stored>) -> Result<()> {
        let (state, request) = (self.state, self.request);
        rules::check(request, object, old.map(|old| &**old))?;
        if old.is_none() {
            authorize_creation(&mut state.lock(), request)?;
        }
        self.policies(old).validate(state, Some(object), old.map(|old| &**old)).await?;
        webhooks::validate(state, request, object, old, self.options.dry_run).await
    }

    /// Stores the object. Returns `None` if another request has changed the stored one in between.
    async fn commit(&self, new: New, old: Option<&Stored>) -> Result<Option<Written>> {
        if self.request.kind.calls_webhook() {
            // The conversions are made before the state is locked.
            self.request.resolve(|| self.encode(new.object.clone(), old).map(drop)).await?;
        }
        self.state.change(|state| match old {
            Some(old) => self.replace(state, new.object, old),
            None => self.insert(state, new),
        })?
    }

    /// Converts an object to its stored representation. An object that is removed or only validated can have any size.
    fn encode(&self, mut object: Object, old: Option<&Stored>) -> Result<Object> {
        let kind = &self.request.kind;
        kind.write(&mut object)?;
        if !self.options.dry_run && !object.should_delete() {
            ensure_storable(self.request, &mut object, old.map(|old| &**old))?;
        }
        if kind.calls_webhook() {
            // Its error is that of the response: the object is stored, as in the real server.
            let _ = kind.read(&Arc::new(object.clone()));
        }
        Ok(object)
    }

    fn insert(&self, state: &mut State, New { mut object, version }: New) -> Result<Option<Written>> {
        let (request, kind, dry_run) = (self.request, &self.request.kind, self.options.dry_run);
        self.check_served(state)?;
        // They can have changed while webhooks were called.
        self.check_parents(state, &object)?;
        let charges = admission::validate(state, request, &object, None)?;
        (kind.strategy.allocate)(&state.store, kind, &mut object)?;
        let mut object = self.encode(object, None)?;
        // A dry run stores nothing, so this does not apply to it.
        if self.verb == Verb::Create && version.is_some() && !dry_run {
            return Err(ApiError::internal("resourceVersion should not be set on objects to be created"));
        }
        if let Some(existing) = state.store.get(&kind.storage_key(), object.namespace(), object.name()) {
            return if self.verb == Verb::Create { Err(self.exists(&object, &existing)) } else { Ok(None) };
        }
        let stored = if dry_run {
            object.metadata.resource_version = version;
            Arc::new(object)
        } else {
            admission::store_charges(state, &charges);
            commit::store(state, kind, object)
        };
        Ok(Some(Written { object: kind.read(&stored)?, is_created: true }))
    }

    /// Returns the error for a new object whose name is not available.
    fn exists(&self, object: &Object, existing: &Object) -> ApiError {
        let is_generated = object.metadata.generate_name.is_some();
        let error = if is_generated { ApiError::not_unique } else { ApiError::already_exists };
        let error = error(&self.request.kind, object.name());
        if existing.is_terminating() { error.with_prefix("object is being deleted: ") } else { error }
    }

    fn replace(&self, state: &mut State, mut new: Object, old: &Stored) -> Result<Option<Written>> {
        let (request, kind, dry_run) = (self.request, &self.request.kind, self.options.dry_run);
        self.check_served(state)?;
        let current = request.stored(state).filter(|current| current.is_same_version(old));
        let Some(current) = current else { return Ok(None) };
        let charges = admission::validate(state, request, &new, Some(old))?;
        (kind.strategy.allocate)(&state.store, kind, &mut new)?;
        // A removed custom object is not stored, so it is not converted back from the storage version.
        let removed = (kind.is_custom && new.should_delete()).then(|| new.clone());
        let new = self.encode(new, Some(old))?;
        let written = |object| Ok(Some(Written { object, is_created: false }));
        if new == *current {
            return written(old.clone());
        }
        if !dry_run && !new.should_delete() {
            admission::store_charges(state, &charges);
        }
        let stored = if dry_run { Arc::new(new) } else { commit::commit(state, kind, new) };
        written(removed.map_or_else(|| kind.read(&stored), |removed| Ok(Arc::new(removed)))?)
    }

    /// Rejects a write of a kind whose definition was deleted in between.
    fn check_served(&self, state: &State) -> Result<()> {
        let kind = &self.request.kind;
        let is_served = state.registry.get(&kind.group, &kind.version, &kind.plural).is_some();
        if is_served { Ok(()) } else { Err(ApiError::PageNotFound) }
    }
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
