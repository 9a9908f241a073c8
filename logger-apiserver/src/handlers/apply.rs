//! Server-side apply: a body that says what its manager wants of an object, put into what others want of it.

use std::sync::Arc;

use http::StatusCode;
use logger_crd::value::json_type;
use serde_json::{Map, Value};

use crate::{
    api::{
        endpoint::Endpoint,
        error::{ApiError, Result},
        go,
        object::{Object, Stored},
    },
    handlers::{decode, request::ResourceRequest, write},
    resource::managed_fields::{self},
    storage::state::State,
    wire::duplicate_fields::{self, Decoded},
};

/// Applies the body to an object; what is not there is made.
pub(crate) fn apply(state: &mut State, request: &ResourceRequest) -> Result<(StatusCode, Stored)> {
    let options = request.patch_options()?;
    // Only the object itself can be made.
    let live = if request.endpoint == Endpoint::Main { request.find(state)? } else { Some(request.existing(state)?) };
    let wanted = body(request)?;
    let applied = managed_fields::apply(request.author(), live.as_deref(), &wanted, options.force)?;
    check_strictly(request)?;
    let mut object = match (applied.outcome, &live) {
        (None, Some(live)) => Object::clone(live),
        (outcome, _) => decode::merged(&request.kind, outcome.unwrap_or_default(), &wanted)?,
    };
    object.metadata.managed_fields = applied.entries;
    match live {
        Some(live) => {
            write::place(&mut object, request)?;
            write::check_name(&object, request)?;
            write::check_version(&request.kind, &object, &live)?;
            Ok((StatusCode::OK, write::replace(state, request, object, &live, options.dry_run)?))
        }
        None => {
            check_new(request, &object)?;
            write::place(&mut object, request)?;
            write::check_name(&object, request)?;
            // A new object has no version yet; a dry run returns the requested one.
            let version = object.metadata.resource_version.take();
            let mut made = write::insert(state, request, object, options.dry_run)?;
            if options.dry_run && version.is_some() {
                Arc::make_mut(&mut made).metadata.resource_version = version;
            }
            Ok((StatusCode::CREATED, made))
        }
    }
}

/// Reads a body of YAML, of which JSON is a part; no body is an object without fields.
pub(crate) fn body(request: &ResourceRequest) -> Result<Value> {
    let read = yaml(&request.body).map(|read| {
        request.strict_errors.replace(read.strict_errors);
        read.value
    });
    match read {
        Ok(Value::Object(fields)) => Ok(Value::Object(fields)),
        Ok(Value::Null) => Ok(Value::Object(Map::new())),
        Ok(other) => {
            let found = json_type(&other);
            let into = "Go value of type map[string]interface {}";
            let why =
                format!("error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into {into}");
            Err(ApiError::bad_request(format!("error decoding YAML: {why}")))
        }
        Err(why) => Err(ApiError::bad_request(format!("error decoding YAML: error converting YAML to JSON: {why}"))),
    }
}

/// Rejects duplicate fields if the request is strict; otherwise the last one counts.
pub(crate) fn check_strictly(request: &ResourceRequest) -> Result<()> {
    let mistakes = request.strict_errors.take();
    if let Some(why) = mistakes.first().filter(|_| request.is_strict()) {
        let why = format!("error strict decoding YAML: error converting YAML to JSON: {why}");
        return Err(ApiError::bad_request(why));
    }
    request.warn(&mistakes);
    Ok(())
}

/// The first document, as the YAML 1.1 that Go reads.
fn yaml(body: &[u8]) -> Result<Decoded, String> {
    let mut options = serde_saphyr::Options::default();
    options.legacy_octal_numbers = true;
    let mut read = duplicate_fields::yaml(body, options).map_err(|error| error.to_string())?;
    go::normalize_numbers(&mut read.value);
    Ok(read)
}

/// Who names a uid means an object that is there.
fn check_new(request: &ResourceRequest, object: &Object) -> Result<()> {
    if object.uid().is_empty() {
        return Ok(());
    }
    let why =
        format!("uid mismatch: the provided object specified uid {}, and no existing object was found", object.uid());
    Err(ApiError::conflict(&request.kind, request.name(), &why))
}
