//! Server-side apply: merges the fields that a manager applies with those of other managers.

use std::sync::Arc;

use http::StatusCode;
use kubewright_crd::value::json_type;
use serde_json::{Map, Value};

use crate::{
    api::{
        depth,
        endpoint::Endpoint,
        error::{ApiError, Result},
        go,
        object::{Object, Stored},
    },
    handlers::{decode, request::ResourceRequest, write},
    resource::managed_fields::{self},
    storage::state::State,
    wire::duplicate_fields::{self, Decoded, YamlError},
};

/// Applies the body to an object, which is created if it does not exist.
pub(crate) fn apply(state: &mut State, request: &ResourceRequest) -> Result<(StatusCode, Stored)> {
    let options = request.patch_options()?;
    // Only the main endpoint can create objects.
    let live = if request.endpoint == Endpoint::Main { request.find(state)? } else { Some(request.existing(state)?) };
    let applied_fields = body(request)?;
    let applied = managed_fields::apply(request.author(), live.as_deref(), &applied_fields, options.force)?;
    check_strict(request)?;
    let mut object = match (applied.outcome, &live) {
        (None, Some(live)) => Object::clone(live),
        (outcome, _) => decode::merged(&request.kind, outcome.unwrap_or_default(), &applied_fields)?,
    };
    object.metadata.managed_fields = applied.entries;
    match live {
        Some(live) => {
            write::ensure_namespace(&mut object, request)?;
            write::check_name(&object, request)?;
            write::mutate(state, request, &mut object, &live, options.dry_run)?;
            write::escalation::check(state, request, &object, Some(&live))?;
            write::check_version(&request.kind, &object, &live)?;
            Ok((StatusCode::OK, write::replace(state, request, object, &live, options.dry_run)?))
        }
        None => {
            check_new(request, &object)?;
            write::ensure_namespace(&mut object, request)?;
            write::check_name(&object, request)?;
            // A new object has no version yet; a dry run returns the requested one.
            let version = object.metadata.resource_version.take();
            let mut created = write::insert(state, request, object, options.dry_run)?;
            if options.dry_run && version.is_some() {
                Arc::make_mut(&mut created).metadata.resource_version = version;
            }
            Ok((StatusCode::CREATED, created))
        }
    }
}

/// Decodes a YAML or JSON body. An empty body is an object without fields.
pub(crate) fn body(request: &ResourceRequest) -> Result<Value> {
    let decoded = yaml(&request.body).map(|decoded| {
        request.strict_errors.replace(decoded.strict_errors);
        decoded.value
    });
    match decoded {
        Ok(Value::Object(fields)) => Ok(Value::Object(fields)),
        Ok(Value::Null) => Ok(Value::Object(Map::new())),
        Ok(other) => {
            let found = json_type(&other);
            let into = "Go value of type map[string]interface {}";
            let detail =
                format!("error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into {into}");
            Err(ApiError::bad_request(format!("error decoding YAML: {detail}")))
        }
        Err(detail) => {
            Err(ApiError::bad_request(format!("error decoding YAML: error converting YAML to JSON: {detail}")))
        }
    }
}

/// Rejects duplicate fields if the request is strict; otherwise the last one wins.
pub(crate) fn check_strict(request: &ResourceRequest) -> Result<()> {
    let strict_errors = request.strict_errors.take();
    if let Some(detail) = strict_errors.first().filter(|_| request.is_strict()) {
        let detail = format!("error strict decoding YAML: error converting YAML to JSON: {detail}");
        return Err(ApiError::bad_request(detail));
    }
    request.warn(&strict_errors);
    Ok(())
}

/// Decodes the first document as YAML 1.1, as Go does. JSON without duplicate fields is decoded as such, which has no
/// other values: it may be deeper than YAML.
fn yaml(body: &[u8]) -> Result<Decoded, String> {
    let json = duplicate_fields::json(body).ok().filter(|decoded| decoded.strict_errors.is_empty());
    if let Some(mut decoded) = json {
        go::normalize_numbers(&mut decoded.value);
        return Ok(decoded);
    }
    if depth::of_json(body).is_err() {
        return Err(YamlError::TooDeep.to_string());
    }
    let mut options = serde_saphyr::Options::default();
    options.legacy_octal_numbers = true;
    let mut decoded = duplicate_fields::yaml(body, options).map_err(|error| error.to_string())?;
    go::normalize_numbers(&mut decoded.value);
    Ok(decoded)
}

/// Rejects a new object with a UID: the request is for an existing object.
fn check_new(request: &ResourceRequest, object: &Object) -> Result<()> {
    if object.uid().is_empty() {
        return Ok(());
    }
    let detail =
        format!("uid mismatch: the provided object specified uid {}, and no existing object was found", object.uid());
    Err(ApiError::conflict(&request.kind, request.name(), &detail))
}
