//! The verbs of the `/scale` subresource.

use k8s_openapi::{
    api::autoscaling::v1::{Scale, ScaleSpec},
    apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry,
};
use logger_crd::value;
use serde_json::{Map, Value, json};

use crate::{
    api::{
        error::{ApiError, FieldError, Result},
        kind::ScalePaths,
        object::{Object, Stored},
    },
    handlers::{apply, call::Call, decode::unknown, write},
    resource::{
        managed_fields, patch,
        scale::{of_object, replicas, sent, set_replicas},
    },
    storage::state::State,
    wire::body,
};

const API_VERSION: &str = "autoscaling/v1";
const KIND: &str = "Scale";
/// What a patch finds in place of replicas that were never set: if it leaves them so, there is nothing to write.
const UNSET: i32 = i32::MIN;
/// The real server stumbles over the name of the type when it says why a body is no Scale of a custom resource, and so says
/// this of every one.
const UNREADABLE: &str = "no kind is registered for the type v1.Scale in scheme \"pkg/runtime/scheme.go:111\"";

/// The fields of a Scale beside its metadata: where, and Go's names of the field and its type.
const FIELDS: [(&str, &str, &str); 5] = [
    ("/spec", "Scale.spec", "v1.ScaleSpec"),
    ("/spec/replicas", "ScaleSpec.spec.replicas", "int32"),
    ("/status", "Scale.status", "v1.ScaleStatus"),
    ("/status/replicas", "ScaleStatus.status.replicas", "int32"),
    ("/status/selector", "ScaleStatus.status.selector", "string"),
];

/// The Scale of an object; one whose replicas were never set has none.
pub(crate) fn get(state: &State, call: &Call, paths: &ScalePaths) -> Result<Scale> {
    let scale = of_object(&call.kind, &*call.existing(state)?, paths).map_err(ApiError::internal)?;
    if replicas(&scale).is_none() {
        let path = &paths.spec_replicas_path;
        return Err(ApiError::internal_error(&format!("the spec replicas field {path:?} does not exist")));
    }
    Ok(sent(scale))
}

/// Sets the replicas to what the Scale in the body says.
pub(crate) fn update(state: &mut State, call: &Call, paths: &ScalePaths) -> Result<Scale> {
    let options = call.write_options("UpdateOptions")?;
    let mut wanted = from_body(call)?;
    write::place(&mut wanted.object, call)?;
    write::check_name(&wanted.object, call)?;
    let old = call.existing(state)?;
    write::check_uid(call, &wanted.object, &old)?;
    // What cannot be shown as a Scale cannot be written as one.
    let before = replicas(&of_object(&call.kind, &old, paths).map_err(ApiError::internal)?).unwrap_or(UNSET);
    let entries = managed_fields::track_scale(call.author(), &old, before, wanted.replicas);
    store(state, call, paths, Wanted { entries, ..wanted }, &old, options.dry_run)
}

/// Sets the replicas to what a patch makes of the present Scale.
pub(crate) fn patch(state: &mut State, call: &Call, paths: &ScalePaths) -> Result<Scale> {
    let options = call.patch_options()?;
    let old = call.existing(state)?;
    let scale = settable(call, &old, paths)?;
    let before = replicas(&scale).unwrap_or_default();
    let mut outcome = json!(sent(scale));
    call.mistakes.replace(patch::apply(&call.content_type, &call.body, None, &mut outcome)?);
    let mut wanted = patched(call, outcome)?;
    write::place(&mut wanted.object, call)?;
    write::check_name(&wanted.object, call)?;
    let entries = managed_fields::track_scale(call.author(), &old, before, wanted.replicas);
    store(state, call, paths, Wanted { entries, ..wanted }, &old, options.dry_run)
}

/// Applies to the present Scale, as far as that can be done.
pub(crate) fn apply(state: &mut State, call: &Call, paths: &ScalePaths) -> Result<Scale> {
    let options = call.patch_options()?;
    let old = call.existing(state)?;
    let scale = settable(call, &old, paths)?;
    let applied = apply::body(call)?;
    let replicas = replicas(&scale).unwrap_or_default();
    let scale = sent(scale);
    let (outcome, entries) = managed_fields::apply_to_scale(call.author(), &old, &scale, &applied, options.force)?;
    apply::check_strictly(call)?;
    let wanted = match outcome {
        None => Wanted { object: Object::default(), replicas, entries },
        Some(outcome) => Wanted { entries, ..read(outcome, None).map_err(ApiError::internal)? },
    };
    store(state, call, paths, wanted, &old, options.dry_run)
}

/// The Scale of an object as patches find it: with replicas, be they unset.
fn settable(call: &Call, object: &Object, paths: &ScalePaths) -> Result<Scale> {
    let mut scale = of_object(&call.kind, object, paths).map_err(ApiError::internal)?;
    if replicas(&scale).is_none() {
        scale.spec = Some(ScaleSpec { replicas: Some(UNSET) });
    }
    Ok(scale)
}

/// What a request wants of an object: the replicas, and the metadata its preconditions are in.
struct Wanted {
    object: Object,
    replicas: i32,
    /// Who owns what once it is done.
    entries: Option<Vec<ManagedFieldsEntry>>,
}

fn store(
    state: &mut State,
    call: &Call,
    paths: &ScalePaths,
    wanted: Wanted,
    old: &Stored,
    dry_run: bool,
) -> Result<Scale> {
    let path = &paths.spec_replicas_path;
    if wanted.replicas == UNSET {
        return Err(ApiError::bad_request(format!("the spec replicas field {path:?} cannot be empty")));
    }
    if call.kind.as_built_in().is_some() && wanted.replicas < 0 {
        let error = FieldError::invalid("spec.replicas", wanted.replicas, "must be greater than or equal to 0");
        return Err(ApiError::invalid_of(KIND, "autoscaling", old.name(), &[error]));
    }
    let mut new = Object::clone(old);
    new.metadata.managed_fields = wanted.entries;
    set_replicas(&mut new.body, path, wanted.replicas).map_err(ApiError::internal)?;
    if let Some(schema) = call.kind.schema() {
        value::prune(&mut new.body, schema);
    }
    if wanted.object.metadata.resource_version.is_some() {
        write::check_version(&call.kind, &wanted.object, old)?;
    }
    let stored = write::replace(state, call, new, old, dry_run)?;
    of_object(&call.kind, &stored, paths).map(sent).map_err(ApiError::bad_request)
}

fn from_body(call: &Call) -> Result<Wanted> {
    body::check_media_type(&call.content_type, call.kind.is_custom)?;
    let unreadable = |why: String| match call.kind.as_built_in() {
        Some(_) => ApiError::bad_request(format!("Scale in version \"v1\" cannot be handled as a Scale: {why}")),
        None => ApiError::bad_request(UNREADABLE),
    };
    let scale = body::fields(&call.content_type, &call.body, API_VERSION, KIND);
    let scale = scale.map_err(|mistake| unreadable(mistake.into_text()))?;
    call.mistakes.replace(scale.mistakes);
    read(Value::Object(scale.fields), Some(call)).map_err(unreadable)
}

fn patched(call: &Call, outcome: Value) -> Result<Wanted> {
    let text = outcome.to_string();
    read(outcome, Some(call)).map_err(|why| {
        // A patch is not its object's fault, so no object is named.
        let error = FieldError::invalid("patch", format!("{text:?}"), why);
        ApiError::invalid_of("", "", "", &[error])
    })
}

/// Reads a Scale, or says as Go does why it is none. Whose call it is is told of its mistakes.
fn read(scale: Value, call: Option<&Call>) -> Result<Wanted, String> {
    check_type(&scale)?;
    FIELDS.iter().try_for_each(|(place, field, type_)| check_field(scale.pointer(place), field, type_))?;
    let mut mistakes = call.map(|call| call.mistakes.take()).unwrap_or_default();
    mistakes.extend(unknown_fields(&scale).iter().map(unknown::told));
    if call.is_some_and(Call::is_strict) && !mistakes.is_empty() {
        return Err(unknown::strict_error(&mistakes));
    }
    let replicas = scale.pointer("/spec/replicas").and_then(int32).unwrap_or_default();
    let Value::Object(fields) = scale else {
        return Err(format!("{} in place of an object", value::json_type(&scale)));
    };
    let object = Object::from_json(fields).map_err(|error| error.to_string())?;
    if let Some(call) = call {
        call.warn(&mistakes);
    }
    Ok(Wanted { object, replicas, entries: None })
}

/// A body may leave out that it is a Scale, but not say that it is something else.
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
    let (fits, found) = match (type_, value) {
        ("int32", Value::Number(number)) => (int32(value).is_some(), format!("number {number}")),
        ("string", _) => (value.is_string(), value::json_type(value).to_owned()),
        ("int32", _) => (false, value::json_type(value).to_owned()),
        _ => (value.is_object(), value::json_type(value).to_owned()),
    };
    if fits {
        Ok(())
    } else {
        Err(format!("json: cannot unmarshal {found} into Go struct field {field} of type {type_}"))
    }
}

/// The fields that no Scale has, in their order.
fn unknown_fields(scale: &Value) -> Vec<String> {
    let is_known = |place: &str| FIELDS.iter().any(|field| field.0 == place);
    let mut unknown = Vec::new();
    for (name, value) in scale.as_object().into_iter().flatten() {
        match name.as_str() {
            "apiVersion" | "kind" => {}
            "metadata" => unknown.extend(scale.as_object().map(unknown::of_metadata).unwrap_or_default()),
            "spec" | "status" => {
                let fields = value.as_object().into_iter().flat_map(Map::keys);
                let strangers = fields.filter(|field| !is_known(&format!("/{name}/{field}")));
                unknown.extend(strangers.map(|field| format!("{name}.{field}")));
            }
            _ => unknown.push(name.clone()),
        }
    }
    unknown
}

fn int32(value: &Value) -> Option<i32> {
    value.as_i64().and_then(|number| i32::try_from(number).ok())
}
