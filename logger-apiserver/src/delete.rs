//! Delete and delete-collection: at once, or marked for as long as finalizers hold the object

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::DeleteOptions;

use crate::{
    call::{Call, State, is_dry_run},
    decode, definition,
    kinds::{Family, Kind},
    list::{self, Page},
    metadata, namespace,
    object::{Object, Stored},
    status::{FieldError, Refusal, Result},
    write,
};

/// What became of a deleted object.
pub(crate) enum Deleted {
    /// It is gone; this was its last state.
    Gone(Stored),
    /// It is on its way out, in this state.
    Ending(Stored),
}

/// Deletes one object.
pub(crate) fn delete(state: &mut State, call: &Call) -> Result<Deleted> {
    let options = options(call)?;
    let dry_run = is_dry_run(&options.dry_run.clone().unwrap_or_default(), "DeleteOptions")?;
    let object = state.existing(call)?;
    check_preconditions(&call.kind, &object, &options)?;
    if call.kind.is_namespace() {
        namespace::check_mortal(&call.kind, call.name())?;
    }
    if dry_run {
        return Ok(if object.finalizers().is_empty() { Deleted::Gone(object) } else { Deleted::Ending(object) });
    }
    Ok(remove_or_mark(state, &call.kind, &object))
}

/// Deletes what a list with the same query would show, and returns that.
pub(crate) fn delete_collection(state: &mut State, call: &Call) -> Result<Page> {
    let options = options(call)?;
    let dry_run = is_dry_run(&options.dry_run.unwrap_or_default(), "DeleteOptions")?;
    let page = list::list(state, call)?;
    if !dry_run {
        for object in &page.items {
            remove_or_mark(state, &call.kind, object);
        }
    }
    Ok(page)
}

/// Deletes a stored object by the rules of its kind.
pub(crate) fn remove_or_mark(state: &mut State, kind: &Kind, object: &Stored) -> Deleted {
    match kind.family {
        Family::Namespace => Deleted::Ending(namespace::terminate(state, object)),
        Family::Definition => Deleted::Ending(definition::terminate(state, object)),
        Family::BuiltIn(_) | Family::Custom { .. } if object.finalizers().is_empty() => {
            write::remove(state, kind, object);
            Deleted::Gone(Arc::new(object.at(state.store.version())))
        }
        Family::BuiltIn(_) | Family::Custom { .. } if object.is_terminating() => Deleted::Ending(object.clone()),
        Family::BuiltIn(_) | Family::Custom { .. } => {
            let mut ending = Object::clone(object);
            metadata::mark_deleted(&mut ending);
            Deleted::Ending(state.store.put(&kind.resource(), &ending))
        }
    }
}

/// The options in the body, or else in the query.
fn options(call: &Call) -> Result<DeleteOptions> {
    let mut options: DeleteOptions = match call.body.as_ref() {
        [] => DeleteOptions::default(),
        body => serde_json::from_slice(body).map_err(|error| {
            let why = decode::in_words_of_go(&error);
            Refusal::bad_request(format!("couldn't get version/kind; json parse error: {why}"))
        })?,
    };
    if let Some(other) = options.kind.as_ref().filter(|kind| *kind != "DeleteOptions") {
        let version = options.api_version.as_deref().unwrap_or_default();
        return Err(Refusal::bad_request(format!(
            "no kind {other:?} is registered for version {version:?} in scheme \"pkg/runtime/scheme.go:111\""
        )));
    }
    if let Some(dry_run) = call.query.get("dryRun") {
        options.dry_run = Some(vec![dry_run.to_owned()]);
    }
    if let Some(policy) = call.query.get("propagationPolicy") {
        options.propagation_policy = Some(policy.to_owned());
    }
    check_propagation(&options)?;
    Ok(options)
}

/// What becomes of dependents is said once, and with a known word.
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
    Err(Refusal::invalid_of("DeleteOptions", "meta.k8s.io", "", &[error]))
}

fn check_preconditions(kind: &Kind, object: &Object, options: &DeleteOptions) -> Result<()> {
    let Some(expected) = &options.preconditions else {
        return Ok(());
    };
    if let Some(uid) = expected.uid.as_ref().filter(|uid| *uid != object.uid()) {
        let why = format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({}). \
             The object might have been deleted and then recreated",
            object.uid(),
        );
        return Err(Refusal::precondition(kind, object.name(), &why));
    }
    if let Some(version) = expected.resource_version.as_ref().filter(|version| *version != object.resource_version()) {
        let why = format!(
            "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record ({}). \
             The object might have been modified",
            object.resource_version(),
        );
        return Err(Refusal::precondition(kind, object.name(), &why));
    }
    Ok(())
}
