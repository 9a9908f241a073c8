//! The verbs of the `/scale` subresource.

use std::mem;

use k8s_openapi::{
    api::autoscaling::v1::{Scale, ScaleSpec},
    apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry,
};
use kubewright_crd::value;
use serde_json::{Map, Value, json};

use super::{
    New, Verb, Write, apply,
    preconditions::{check_name, check_uid, check_version, ensure_namespace},
};
use crate::{
    api::{
        error::{ApiError, FieldError, Result},
        kind::ScalePaths,
        object::{Object, Stored},
    },
    handlers::{decode::unknown, request::ResourceRequest},
    resource::{
        managed_fields, patch,
        registry::Resource,
        scale::{of_object, replicas, sent, set_replicas},
    },
    wire::body,
};

const API_VERSION: &str = "autoscaling/v1";
const KIND: &str = "Scale";
/// The replicas that a patch receives if they are not set. If the patch does not change them, it is rejected.
const UNSET: i32 = i32::MIN;
/// The error for every body that is not a Scale of a custom resource: the real server fails to format the actual error.
const DECODE_ERROR: &str = "no kind is registered for the type v1.Scale in scheme \"pkg/runtime/scheme.go:111\"";

/// The fields of a Scale except its metadata: the pointer, and Go's names of the field and its type.
const FIELDS: [(&str, &str, &str); 5] = [
    ("/spec", "Scale.spec", "v1.ScaleSpec"),
    ("/spec/replicas", "ScaleSpec.spec.replicas", "int32"),
    ("/status", "Scale.status", "v1.ScaleStatus"),
    ("/status/replicas", "ScaleStatus.status.replicas", "int32"),
    ("/status/selector", "ScaleStatus.status.selector", "string"),
];

/// Returns the Scale of an object.
///
/// # Errors
/// An object without replicas has none.
pub(crate) fn get(kind: &Resource, object: &Object, paths: &ScalePaths) -> Result<Scale> {
    let scale = of_object(kind, object, paths).map_err(ApiError::internal)?;
    if replicas(&scale).is_none() {
        let path = &paths.spec_replicas_path;
        return Err(ApiError::internal_error(&format!("the spec replicas field {path:?} does not exist")));
    }
    Ok(sent(scale))
}

/// Returns the Scale of an object after a write.
///
/// # Errors
/// The object has no valid Scale.
pub(crate) fn written(kind: &Resource, object: &Object, paths: &ScalePaths) -> Result<Scale> {
    of_object(kind, object, paths).map(sent).map_err(ApiError::bad_request)
}

impl Write<'_> {
    /// Decodes a Scale, and returns its object with the desired replicas.
    pub(super) async fn decode_scale(&self, paths: &ScalePaths) -> Result<(New, Option<Stored>)> {
        let (desired, old) = match self.verb {
            Verb::Patch => self.decode_patched_scale(paths).await?,
            Verb::Apply => self.decode_applied_scale(paths).await?,
            Verb::Create | Verb::Update => self.decode_updated_scale(paths).await?,
        };
        let object = with_replicas(self.request, paths, desired, &old)?;
        Ok((New { object, version: None }, Some(old)))
    }

    async fn decode_updated_scale(&self, paths: &ScalePaths) -> Result<(DesiredScale, Stored)> {
        let request = self.request;
        let mut desired = from_body(request)?;
        ensure_namespace(&mut desired.object, request)?;
        check_name(&desired.object, request)?;
        let old = self.existing().await?;
        check_uid(request, &desired.object, &old)?;
        // An object that cannot be converted to a Scale cannot be updated as one.
        let before = replicas(&of_object(&request.kind, &old, paths).map_err(ApiError::internal)?).unwrap_or(UNSET);
        let entries = managed_fields::track_scale(request.author(), &old, before, desired.replicas);
        Ok((DesiredScale { entries, ..desired }, old))
    }

    async fn decode_patched_scale(&self, paths: &ScalePaths) -> Result<(DesiredScale, Stored)> {
        let request = self.request;
        let old = self.existing().await?;
        let scale = scale_to_patch(request, &old, paths)?;
        let before = replicas(&scale).unwrap_or_default();
        let mut outcome = json!(sent(scale));
        *request.strict_errors.lock() = patch::apply(&request.content_type, &request.body, None, &mut outcome)?;
        let mut desired = patched(request, outcome)?;
        ensure_namespace(&mut desired.object, request)?;
        check_name(&desired.object, request)?;
        let entries = managed_fields::track_scale(request.author(), &old, before, desired.replicas);
        Ok((DesiredScale { entries, ..desired }, old))
    }

    async fn decode_applied_scale(&self, paths: &ScalePaths) -> Result<(DesiredScale, Stored)> {
        let (request, force) = (self.request, self.options.force);
        let old = self.existing().await?;
        let scale = scale_to_patch(request, &old, paths)?;
        let applied = apply::body(request)?;
        let replicas = replicas(&scale).unwrap_or_default();
        let (outcome, entries) = managed_fields::apply_to_scale(request.author(), &old, &sent(scale), &applied, force)?;
        let desired = match outcome {
            None => DesiredScale { object: Object::default(), replicas, entries },
            Some(outcome) => DesiredScale { entries, ..decode(outcome, None).map_err(ApiError::internal)? },
        };
        Ok((desired, old))
    }
}

/// Returns the Scale that a patch is applied to. Replicas that are not set are [`UNSET`].
fn scale_to_patch(request: &ResourceRequest, object: &Object, paths: &ScalePaths) -> Result<Scale> {
    let mut scale = of_object(&request.kind, object, paths).map_err(ApiError::internal)?;
    if replicas(&scale).is_none() {
        scale.spec = Some(ScaleSpec { replicas: Some(UNSET) });
    }
    Ok(scale)
}

/// The desired replicas, and the metadata with the preconditions of the request.
struct DesiredScale {
    object: Object,
    replicas: i32,
    /// The managed fields after the write.
    entries: Option<Vec<ManagedFieldsEntry>>,
}

/// Returns the object with the desired replicas.
fn with_replicas(request: &ResourceRequest, paths: &ScalePaths, desired: DesiredScale, old: &Stored) -> Result<Object> {
    let path = &paths.spec_replicas_path;
    if desired.replicas == UNSET {
        return Err(ApiError::bad_request(format!("the spec replicas field {path:?} cannot be empty")));
    }
    if request.kind.as_built_in().is_some() && desired.replicas < 0 {
        let error = FieldError::invalid("spec.replicas", desired.replicas, "must be greater than or equal to 0");
        return Err(ApiError::invalid_of(KIND, "autoscaling", old.name(), &[error]));
    }
    let mut new = Object::clone(old);
    new.metadata.managed_fields = desired.entries;
    set_replicas(&mut new.body, path, desired.replicas).map_err(ApiError::internal)?;
    if let Some(schema) = request.kind.schema() {
        value::prune(&mut new.body, schema);
    }
    if desired.object.metadata.resource_version.is_some() {
        check_version(&request.kind, &desired.object, old)?;
    }
    Ok(new)
}

fn from_body(request: &ResourceRequest) -> Result<DesiredScale> {
    body::check_media_type(&request.content_type, request.kind.is_custom)?;
    let decode_error = |detail: String| match request.kind.as_built_in() {
        Some(_) => ApiError::bad_request(format!("Scale in version \"v1\" cannot be handled as a Scale: {detail}")),
        None => ApiError::bad_request(DECODE_ERROR),
    };
    let scale = body::fields(&request.content_type, &request.body, API_VERSION, KIND);
    let scale = scale.map_err(|error| decode_error(error.into_message()))?;
    decode(Value::Object(scale), Some(request)).map_err(decode_error)
}

fn patched(request: &ResourceRequest, outcome: Value) -> Result<DesiredScale> {
    let text = outcome.to_string();
    decode(outcome, Some(request)).map_err(|detail| {
        // The error is that of the patch, so it names no object.
        let error = FieldError::invalid("patch", format!("{text:?}"), detail);
        ApiError::invalid_of("", "", "", &[error])
    })
}

/// Decodes a Scale, with Go's errors. Errors of lenient decoding become warnings of the request.
fn decode(scale: Value, request: Option<&ResourceRequest>) -> Result<DesiredScale, String> {
    check_type(&scale)?;
    FIELDS.iter().try_for_each(|(pointer, field, type_)| check_field(scale.pointer(pointer), field, type_))?;
    let mut strict_errors = request.map(|request| mem::take(&mut *request.strict_errors.lock())).unwrap_or_default();
    strict_errors.extend(unknown_fields(&scale).iter().map(unknown::format_error));
    if request.is_some_and(ResourceRequest::is_strict) && !strict_errors.is_empty() {
        return Err(unknown::strict_error(&strict_errors));
    }
    let replicas = scale.pointer("/spec/replicas").and_then(int32).unwrap_or_default();
    let Value::Object(fields) = scale else {
        return Err(format!("{} in place of an object", value::json_type(&scale)));
    };
    let object = Object::from_json(fields).map_err(|error| error.to_string())?;
    if let Some(request) = request {
        request.warn(&strict_errors);
    }
    Ok(DesiredScale { object, replicas, entries: None })
}

/// Rejects a body of another type. The type may be omitted.
fn check_type(scale: &Value) -> Result<(), String> {
    let field = |name: &str, default| {
        let text = scale.get(name).and_then(Value::as_str).unwrap_or_default();
        if text.is_empty() { default } else { text.to_owned() }
    };
    let (version, kind) = (field("apiVersion", API_VERSION.to_owned()), field("kind", KIND.to_owned()));
    if version == API_VERSION && kind == KIND {
        return Ok(());
    }
    Err(format!("no kind {kind:?} is registered for version {version:?} in scheme \"pkg/runtime/scheme.go:111\""))
}

fn check_field(value: Option<&Value>, field: &str, type_: &str) -> Result<(), String> {
    let Some(value) = value.filter(|value| !value.is_null()) else {
        return Ok(());
    };
    let (is_valid, found) = match (type_, value) {
        ("int32", Value::Number(number)) => (int32(value).is_some(), format!("number {number}")),
        ("string", _) => (value.is_string(), value::json_type(value).to_owned()),
        ("int32", _) => (false, value::json_type(value).to_owned()),
        _ => (value.is_object(), value::json_type(value).to_owned()),
    };
    if is_valid {
        Ok(())
    } else {
        Err(format!("json: cannot unmarshal {found} into Go struct field {field} of type {type_}"))
    }
}

/// Returns the unknown fields of a Scale, in order.
fn unknown_fields(scale: &Value) -> Vec<String> {
    let is_known = |pointer: &str| FIELDS.iter().any(|field| field.0 == pointer);
    let mut unknown = Vec::new();
    for (name, value) in scale.as_object().into_iter().flatten() {
        match name.as_str() {
            "apiVersion" | "kind" => {}
            "metadata" => unknown.extend(scale.as_object().map(unknown::of_metadata).unwrap_or_default()),
            "spec" | "status" => {
                let fields = value.as_object().into_iter().flat_map(Map::keys);
                let unknown_fields = fields.filter(|field| !is_known(&format!("/{name}/{field}")));
                unknown.extend(unknown_fields.map(|field| format!("{name}.{field}")));
            }
            _ => unknown.push(name.clone()),
        }
    }
    unknown
}

fn int32(value: &Value) -> Option<i32> {
    value.as_i64().and_then(|number| i32::try_from(number).ok())
}
