//! The verbs `delete` and `deletecollection`.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::DeleteOptions;
use serde_json::Value;

use crate::{
    api::{
        error::{ApiError, FieldError, Result},
        object::{Object, Stored},
    },
    handlers::{
        list::{self, Page},
        policies::{AdmissionPolicies, Operation},
        request::{ResourceRequest, is_dry_run},
        webhooks,
    },
    lifecycle::{
        definitions,
        deletion::{self, DeleteOutcome, Deleted},
    },
    resource::{registry::Resource, strategy::Lifecycle},
    storage::state::State,
    wire::body,
};

/// The warning for the deletion of a Job without a propagation policy.
const ORPHAN_WARNING: &str = "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to \
    remove them or set propagationPolicy=Orphan to suppress this warning";

/// Deletes one object.
pub(crate) fn delete(state: &mut State, request: &ResourceRequest) -> Result<Deleted> {
    let options = options(request)?;
    let dry_run = is_dry_run(&options.dry_run.clone().unwrap_or_default(), "DeleteOptions")?;
    let object = request.existing(state)?;
    check_preconditions(&request.kind, &object, &options)?;
    (request.kind.strategy.check_delete)(&request.kind, request.name())?;
    admit(state, request, &object, dry_run)?;
    if needs_orphan_warning(&request.kind, &options) {
        request.warnings.borrow_mut().push(ORPHAN_WARNING.to_owned());
    }
    webhooks::check_deletion(state, request, &object, &options, dry_run)?;
    if dry_run && request.kind.strategy.lifecycle == Lifecycle::Definition {
        return Ok(Deleted::Terminating(definitions::mark_terminating(&object)));
    }
    if dry_run {
        return Ok(match deletion::before_delete(&request.kind, &object, &options) {
            DeleteOutcome::Remove(object) => Deleted::Removed(Arc::new(object)),
            DeleteOutcome::Update(object) => Deleted::Terminating(Arc::new(object)),
        });
    }
    deletion::delete(state, &request.kind, &object, &options)
}

/// Deletes the objects that a list with the same query returns, and returns them.
pub(crate) fn delete_collection(state: &mut State, request: &ResourceRequest) -> Result<Page> {
    let options = options(request)?;
    let dry_run = is_dry_run(&options.dry_run.clone().unwrap_or_default(), "DeleteOptions")?;
    let page = list::list(state, request)?;
    webhooks::prepare_deletions(state, request, &page.items, &options, dry_run)?;
    if !dry_run && request.kind.calls_webhook() {
        prepare(state, request, &page.items, &options)?;
    }
    for object in &page.items {
        webhooks::check_deletion(state, request, object, &options, dry_run)?;
        if !dry_run {
            check_preconditions(&request.kind, object, &options)?;
            admit(state, request, object, dry_run)?;
            deletion::delete(state, &request.kind, object, &options)?;
        }
    }
    Ok(page)
}

/// Has the conversions of all deletions made at once, before any of the objects is deleted.
fn prepare(state: &State, request: &ResourceRequest, objects: &[Stored], options: &DeleteOptions) -> Result<()> {
    for object in objects {
        // Errors are those of the deletions.
        let _ = admit(state, request, object, false);
        let _ = deletion::prepare(&request.kind, object, options);
    }
    request.check_pending()
}

/// Evaluates the admission policies of a deletion.
fn admit(state: &State, request: &ResourceRequest, object: &Object, dry_run: bool) -> Result<()> {
    let policies = AdmissionPolicies { request, operation: Operation::Delete, dry_run };
    policies.validate(state, None, Some(object))
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
    let options: DeleteOptions = serde_json::from_value(Value::Object(fields.fields))
        .map_err(|error| ApiError::bad_request(error.to_string()))?;
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
