//! The verbs `delete` and `deletecollection`.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::DeleteOptions;
use serde_json::Value;

use crate::{
    api::{
        error::{ApiError, FieldError, Result},
        object::{Object, Stored},
    },
    controllers::controlled_state::ControlledState,
    handlers::{
        admission_policies::{AdmissionPolicies, Operation},
        list::{self, Page},
        request::{ResourceRequest, is_dry_run},
        webhooks,
    },
    lifecycle::{
        definitions,
        deletion::{self, DeleteOutcome, Deleted},
    },
    resource::{registry::Resource, strategy::Lifecycle},
    wire::body,
};

/// The warning for the deletion of a Job without a propagation policy.
const ORPHAN_WARNING: &str = "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to \
    remove them or set propagationPolicy=Orphan to suppress this warning";

/// A deletion of one object, or of those that a list with the same query returns.
pub(crate) struct Delete<'a> {
    state: &'a ControlledState,
    request: &'a ResourceRequest,
    options: DeleteOptions,
    dry_run: bool,
}

impl<'a> Delete<'a> {
    /// Creates the deletion of a request.
    ///
    /// # Errors
    /// The options are invalid.
    pub(crate) fn new(state: &'a ControlledState, request: &'a ResourceRequest) -> Result<Self> {
        let options = options(request)?;
        let dry_run = is_dry_run(&options.dry_run.clone().unwrap_or_default(), "DeleteOptions")?;
        Ok(Self { state, request, options, dry_run })
    }

    /// Deletes the object that the request names.
    ///
    /// # Errors
    /// The object does not exist, or its deletion is not admitted.
    pub(crate) async fn named(&self) -> Result<Deleted> {
        let mut attempts = self.request.attempts(self.request.name());
        loop {
            attempts.begin()?;
            if let Some(deleted) = self.attempt().await? {
                return Ok(deleted);
            }
        }
    }

    async fn attempt(&self) -> Result<Option<Deleted>> {
        let (request, kind) = (self.request, &self.request.kind);
        let found = request.find(self.state).await?;
        let object = found.ok_or_else(|| ApiError::not_found(kind, request.name()))?;
        check_preconditions(kind, &object, &self.options)?;
        (kind.strategy.check_delete)(kind, request.name())?;
        self.admit(&object).await?;
        if needs_orphan_warning(kind, &self.options) {
            request.warnings.lock().push(ORPHAN_WARNING.to_owned());
        }
        let outcome = self.outcome(&object);
        match self.dry_run {
            true => Ok(Some(self.dry_run(&object, outcome))),
            false => self.commit(&object, outcome).await,
        }
    }

    /// Deletes the objects of a list one after the other, and returns the list. Objects that are deleted in between are
    /// skipped, as in the real server.
    ///
    /// # Errors
    /// The list is invalid, or the deletion of an object is not admitted; those before it are deleted.
    pub(crate) async fn collection(&self) -> Result<Page> {
        let page = list::list(self.state, self.request).await?;
        let outcomes: Vec<DeleteOutcome> = page.items.iter().map(|object| self.outcome(object)).collect();
        if !self.dry_run {
            self.convert(&outcomes).await;
        }
        for (object, outcome) in page.items.iter().zip(outcomes) {
            self.listed(object, outcome).await?;
        }
        Ok(page)
    }

    /// Deletes an object of the list, in its current version if it has changed since.
    async fn listed(&self, listed: &Stored, outcome: DeleteOutcome) -> Result<()> {
        let (mut object, mut outcome) = (listed.clone(), outcome);
        let mut attempts = self.request.attempts(listed.name());
        loop {
            attempts.begin()?;
            check_preconditions(&self.request.kind, &object, &self.options)?;
            self.admit(&object).await?;
            if self.dry_run || self.commit(&object, outcome).await?.is_some() {
                return Ok(());
            }
            let Some(current) = self.current(listed).await? else { return Ok(()) };
            (object, outcome) = (current.clone(), self.outcome(&current));
        }
    }

    /// Returns the current version of an object, if it still exists.
    async fn current(&self, object: &Object) -> Result<Option<Stored>> {
        let kind = &self.request.kind;
        let stored = self.state.lock().store.get(&kind.storage_key(), object.namespace(), object.name());
        match stored {
            Some(stored) => kind.read_now(&stored).await.map(Some),
            None => Ok(None),
        }
    }

    fn outcome(&self, object: &Object) -> DeleteOutcome {
        deletion::before_delete(&self.request.kind, object, &self.options)
    }

    /// Has a webhook convert what remains after deletions, at once and before the state is locked.
    async fn convert(&self, outcomes: &[DeleteOutcome]) {
        let kind = &self.request.kind;
        if kind.calls_webhook() {
            // An error is that of the deletion.
            let convert = || outcomes.iter().for_each(|outcome| drop(deletion::convert(kind, outcome)));
            self.request.resolve(convert).await;
        }
    }

    /// Evaluates the admission policies of the deletion of an object, and calls its webhooks.
    async fn admit(&self, object: &Stored) -> Result<()> {
        let (state, request, dry_run) = (self.state, self.request, self.dry_run);
        let policies = AdmissionPolicies { request, operation: Operation::Delete, dry_run };
        policies.validate(state, None, Some(object)).await?;
        webhooks::check_deletion(state, request, object, &self.options, dry_run).await
    }

    /// Deletes an object. Returns `None` if another request has changed it in between.
    async fn commit(&self, object: &Stored, outcome: DeleteOutcome) -> Result<Option<Deleted>> {
        let kind = &self.request.kind;
        self.convert(std::slice::from_ref(&outcome)).await;
        self.state.change(|state| {
            let current = state.store.get(&kind.storage_key(), object.namespace(), object.name());
            match current.filter(|current| current.is_same_version(object)) {
                Some(_) => deletion::complete(state, kind, object, outcome).map(Some),
                None => Ok(None),
            }
        })?
    }

    /// Returns the result of a dry run.
    fn dry_run(&self, object: &Stored, outcome: DeleteOutcome) -> Deleted {
        if self.request.kind.strategy.lifecycle == Lifecycle::Definition {
            return Deleted::Terminating(definitions::mark_terminating(object));
        }
        match outcome {
            DeleteOutcome::Remove(object) => Deleted::Removed(Arc::new(object)),
            DeleteOutcome::Update(object) => Deleted::Terminating(Arc::new(object)),
        }
    }
}

/// Returns the options in the body, or those in the query if there is no body.
fn options(request: &ResourceRequest) -> Result<DeleteOptions> {
    let options = match request.body.as_ref() {
        [] => from_query(request)?,
        _ => from_body(request)?,
    };
    check_propagation(&options)?;
    Ok(options)
}

fn from_body(request: &ResourceRequest) -> Result<DeleteOptions> {
    let fields = body::fields(&request.content_type, &request.body, "v1", "DeleteOptions");
    let fields = fields.map_err(|error| ApiError::bad_request(error.into_message()))?;
    let options: DeleteOptions =
        serde_json::from_value(Value::Object(fields)).map_err(|error| ApiError::bad_request(error.to_string()))?;
    let Some(other) = options.kind.as_ref().filter(|kind| *kind != "DeleteOptions") else {
        return Ok(options);
    };
    let version = options.api_version.as_deref().unwrap_or_default();
    Err(ApiError::bad_request(format!(
        "no kind {other:?} is registered for version {version:?} in scheme \"pkg/runtime/scheme.go:111\""
    )))
}

fn from_query(request: &ResourceRequest) -> Result<DeleteOptions> {
    let text = |name| request.query.get(name).map(str::to_owned);
    Ok(DeleteOptions {
        dry_run: text("dryRun").map(|dry_run| vec![dry_run]),
        grace_period_seconds: request.query.integer("gracePeriodSeconds")?,
        orphan_dependents: request.query.get("orphanDependents").map(|_| request.query.flag("orphanDependents")),
        propagation_policy: text("propagationPolicy"),
        ..DeleteOptions::default()
    })
}

/// Rejects an unknown propagation policy, and one together with `orphanDependents`.
fn check_propagation(options: &DeleteOptions) -> Result<()> {
    const FIELD: &str = "propagationPolicy";
    const KNOWN: [&str; 4] = ["Foreground", "Background", "Orphan", "nil"];
    let Some(policy) = &options.propagation_policy else {
        return Ok(());
    };
    let shown = format!("{policy:?}");
    let error = if options.orphan_dependents.is_some() {
        FieldError::invalid(FIELD, shown, "orphanDependents and deletionPropagation cannot be both set")
    } else if KNOWN[..3].contains(&policy.as_str()) {
        return Ok(());
    } else {
        FieldError::unsupported(FIELD, shown, &KNOWN.map(str::to_owned))
    };
    Err(ApiError::invalid_of("DeleteOptions", "meta.k8s.io", "", &[error]))
}

/// Returns whether the deletion needs a warning about dependents.
fn needs_orphan_warning(kind: &Resource, options: &DeleteOptions) -> bool {
    kind.group_kind() == "Job.batch" && options.propagation_policy.is_none() && options.orphan_dependents.is_none()
}

pub(crate) fn check_preconditions(kind: &Resource, object: &Object, options: &DeleteOptions) -> Result<()> {
    let Some(expected) = &options.preconditions else {
        return Ok(());
    };
    if let Some(uid) = expected.uid.as_ref().filter(|uid| *uid != object.uid()) {
        let detail = format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({}). \
             The object might have been deleted and then recreated",
            object.uid(),
        );
        return Err(ApiError::precondition(kind, object.name(), &detail));
    }
    if let Some(version) = expected.resource_version.as_ref().filter(|version| *version != object.resource_version()) {
        let detail = format!(
            "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record ({}). \
             The object might have been modified",
            object.resource_version(),
        );
        return Err(ApiError::precondition(kind, object.name(), &detail));
    }
    Ok(())
}
