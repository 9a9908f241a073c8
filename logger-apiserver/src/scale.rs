//! The `/scale` subresource: replica counts as an `autoscaling/v1` Scale, wherever in the object a definition keeps them

use k8s_openapi::{
    api::autoscaling::v1::{Scale, ScaleSpec, ScaleStatus},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceSubresourceScale,
    apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta},
};
use logger_crd::value;
use serde_json::{Map, Value, json};

use crate::{
    apply, body,
    call::{Call, State},
    decode::unknown,
    go_value,
    managed_fields::{self, Author},
    object::{Object, Stored},
    patch, selector,
    status::{FieldError, Refusal, Result},
    write,
};

/// Where the objects of a kind keep what their Scale shows.
pub(crate) type Paths = CustomResourceSubresourceScale;

const API_VERSION: &str = "autoscaling/v1";
const KIND: &str = "Scale";
/// What a patch finds in place of replicas that were never set: if it leaves them so, there is nothing to write.
const UNSET: i32 = i32::MIN;
const MAP: &str = "map[string]interface{}";
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
pub(crate) fn get(state: &State, call: &Call, paths: &Paths) -> Result<Scale> {
    let scale = of_object(call, &*state.existing(call)?, paths).map_err(Refusal::internal)?;
    if replicas(&scale).is_none() {
        let path = &paths.spec_replicas_path;
        return Err(Refusal::internal_error(&format!("the spec replicas field {path:?} does not exist")));
    }
    Ok(sent(scale))
}

/// Sets the replicas to what the Scale in the body says.
pub(crate) fn update(state: &mut State, call: &Call, paths: &Paths) -> Result<Scale> {
    let options = call.write_options("UpdateOptions")?;
    let mut wanted = from_body(call)?;
    write::place(&mut wanted.object, call)?;
    write::check_name(&wanted.object, call)?;
    let old = state.existing(call)?;
    write::check_uid(call, &wanted.object, &old)?;
    // What cannot be shown as a Scale cannot be written as one.
    let before = replicas(&of_object(call, &old, paths).map_err(Refusal::internal)?).unwrap_or(UNSET);
    let entries = managed_fields::track_scale(Author::of(call), &old, before, wanted.replicas);
    store(state, call, paths, Wanted { entries, ..wanted }, &old, options.dry_run)
}

/// Sets the replicas to what a patch makes of the present Scale.
pub(crate) fn patch(state: &mut State, call: &Call, paths: &Paths) -> Result<Scale> {
    let options = call.patch_options()?;
    let old = state.existing(call)?;
    let scale = settable(call, &old, paths)?;
    let before = replicas(&scale).unwrap_or_default();
    let mut outcome = json!(sent(scale));
    call.mistakes.replace(patch::apply(&call.content_type, &call.body, None, &mut outcome)?);
    let mut wanted = patched(call, outcome)?;
    write::place(&mut wanted.object, call)?;
    write::check_name(&wanted.object, call)?;
    let entries = managed_fields::track_scale(Author::of(call), &old, before, wanted.replicas);
    store(state, call, paths, Wanted { entries, ..wanted }, &old, options.dry_run)
}

/// Applies to the present Scale, as far as that can be done.
pub(crate) fn apply(state: &mut State, call: &Call, paths: &Paths) -> Result<Scale> {
    let options = call.patch_options()?;
    let old = state.existing(call)?;
    let scale = settable(call, &old, paths)?;
    let applied = apply::body(call)?;
    let replicas = replicas(&scale).unwrap_or_default();
    let scale = sent(scale);
    let (outcome, entries) = managed_fields::apply_to_scale(Author::of(call), &old, &scale, &applied, options.force)?;
    apply::check_strictly(call)?;
    let wanted = match outcome {
        None => Wanted { object: Object::default(), replicas, entries },
        Some(outcome) => Wanted { entries, ..read(outcome, None).map_err(Refusal::internal)? },
    };
    store(state, call, paths, wanted, &old, options.dry_run)
}

/// The Scale of an object as patches find it: with replicas, be they unset.
fn settable(call: &Call, object: &Object, paths: &Paths) -> Result<Scale> {
    let mut scale = of_object(call, object, paths).map_err(Refusal::internal)?;
    if replicas(&scale).is_none() {
        scale.spec = Some(ScaleSpec { replicas: Some(UNSET) });
    }
    Ok(scale)
}

/// The rules for replicas and selectors an object breaks; a write of the status answers for the status alone.
pub(crate) fn check(object: &Object, paths: &Paths, status_alone: bool) -> Vec<FieldError> {
    let spec = (!status_alone).then_some(&paths.spec_replicas_path);
    let counts = spec.into_iter().chain([&paths.status_replicas_path]);
    let mut errors: Vec<FieldError> = counts.filter_map(|path| check_replicas(object, path)).collect();
    if let Some(path) = selector_path(paths)
        && let Err(why) = text(&object.body, path)
    {
        errors.push(FieldError::invalid(path, "\"\"", why));
    }
    errors
}

/// What a request wants of an object: the replicas, and the metadata its preconditions are in.
struct Wanted {
    object: Object,
    replicas: i32,
    /// Who owns what once it is done.
    entries: Option<Vec<ManagedFieldsEntry>>,
}

fn store(state: &mut State, call: &Call, paths: &Paths, wanted: Wanted, old: &Stored, dry_run: bool) -> Result<Scale> {
    let path = &paths.spec_replicas_path;
    if wanted.replicas == UNSET {
        return Err(Refusal::bad_request(format!("the spec replicas field {path:?} cannot be empty")));
    }
    if call.kind.as_built_in().is_some() && wanted.replicas < 0 {
        let error = FieldError::invalid("spec.replicas", wanted.replicas, "must be greater than or equal to 0");
        return Err(Refusal::invalid_of(KIND, "autoscaling", old.name(), &[error]));
    }
    let mut new = Object::clone(old);
    new.metadata.managed_fields = wanted.entries;
    set(&mut new.body, path, wanted.replicas).map_err(Refusal::internal)?;
    if let Some(schema) = call.kind.schema() {
        value::prune(&mut new.body, schema);
    }
    if wanted.object.metadata.resource_version.is_some() {
        write::check_version(&call.kind, &wanted.object, old)?;
    }
    let stored = write::replace(state, call, new, old, dry_run)?;
    of_object(call, &stored, paths).map(sent).map_err(Refusal::bad_request)
}

fn from_body(call: &Call) -> Result<Wanted> {
    body::check_media_type(&call.content_type, call.kind.is_custom())?;
    let unreadable = |why: String| match call.kind.as_built_in() {
        Some(_) => Refusal::bad_request(format!("Scale in version \"v1\" cannot be handled as a Scale: {why}")),
        None => Refusal::bad_request(UNREADABLE),
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
        Refusal::invalid_of("", "", "", &[error])
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

/// The Scale of an object, with replicas only if they are set; or which of its fields is of the wrong type.
fn of_object(call: &Call, object: &Object, paths: &Paths) -> Result<Scale, String> {
    let spec = integer(&object.body, &paths.spec_replicas_path)?;
    let status = integer(&object.body, &paths.status_replicas_path)?;
    let selector = match call.kind.as_built_in() {
        Some(_) => object.field("spec.selector").map(selector::text_of),
        None => selector_path(paths).map_or(Ok(None), |path| text(&object.body, path))?.map(str::to_owned),
    };
    // Written before the kind had a Scale, a count can be too large for one: the real server cuts it off too.
    let cut = |count: i64| count as i32;
    Ok(Scale {
        metadata: metadata(&object.metadata),
        spec: Some(ScaleSpec { replicas: spec.map(cut) }),
        status: Some(ScaleStatus {
            replicas: status.map(cut).unwrap_or_default(),
            selector: selector.filter(|selector| !selector.is_empty()),
        }),
    })
}

fn metadata(object: &ObjectMeta) -> ObjectMeta {
    ObjectMeta {
        name: object.name.clone(),
        namespace: object.namespace.clone(),
        uid: object.uid.clone(),
        resource_version: object.resource_version.clone(),
        creation_timestamp: object.creation_timestamp.clone(),
        ..ObjectMeta::default()
    }
}

fn replicas(scale: &Scale) -> Option<i32> {
    scale.spec.as_ref().and_then(|spec| spec.replicas)
}

/// The form that is sent: no replicas are none, as Go leaves zeros out.
fn sent(mut scale: Scale) -> Scale {
    let replicas = replicas(&scale).filter(|replicas| *replicas != 0);
    scale.spec = Some(ScaleSpec { replicas });
    scale
}

fn check_replicas(object: &Object, path: &str) -> Option<FieldError> {
    match integer(&object.body, path) {
        Err(why) => Some(FieldError::invalid(path, 0, why)),
        Ok(Some(count)) if count < 0 => Some(FieldError::invalid(path, count, "should be a non-negative integer")),
        Ok(Some(count)) if count > i64::from(i32::MAX) => {
            Some(FieldError::invalid(path, count, format!("should be less than or equal to {}", i32::MAX)))
        }
        Ok(_) => None,
    }
}

fn selector_path(paths: &Paths) -> Option<&str> {
    paths.label_selector_path.as_deref().filter(|path| !path.is_empty())
}

fn integer(body: &Map<String, Value>, path: &str) -> Result<Option<i64>, String> {
    let typed = |value: &Value| value.as_i64().ok_or_else(|| accessor_error(&names(path), value, "int64"));
    nested(body, path)?.map(typed).transpose()
}

fn text<'a>(body: &'a Map<String, Value>, path: &str) -> Result<Option<&'a str>, String> {
    let typed = |value: &'a Value| value.as_str().ok_or_else(|| accessor_error(&names(path), value, "string"));
    nested(body, path)?.map(typed).transpose()
}

/// The value at a path, if there is one.
fn nested<'a>(body: &'a Map<String, Value>, path: &str) -> Result<Option<&'a Value>, String> {
    let names = names(path);
    let mut value = body.get(names[0]);
    for (index, name) in names.iter().enumerate().skip(1) {
        value = match value {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Object(fields)) => fields.get(*name),
            Some(other) => return Err(accessor_error(&names[..=index], other, MAP)),
        };
    }
    Ok(value)
}

/// Puts replicas at a path, with the objects that lead there.
fn set(body: &mut Map<String, Value>, path: &str, replicas: i32) -> Result<(), String> {
    let names = names(path);
    let last = names.len() - 1;
    let mut fields = body;
    for (index, name) in names[..last].iter().enumerate() {
        let child = fields.entry(*name).or_insert_with(|| json!({}));
        let no_map = || format!("value cannot be set because {} is not a {MAP}", json_path(&names[..=index]));
        fields = child.as_object_mut().ok_or_else(no_map)?;
    }
    fields.insert(names[last].to_owned(), json!(replicas));
    Ok(())
}

/// The names a path is made of; there is at least one.
pub(crate) fn names(path: &str) -> Vec<&str> {
    path.strip_prefix('.').unwrap_or(path).split('.').collect()
}

fn json_path(names: &[&str]) -> String {
    format!(".{}", names.join("."))
}

fn accessor_error(names: &[&str], value: &Value, expected: &str) -> String {
    let (path, found, type_) = (json_path(names), go_value::text(value), go_value::type_name(value));
    format!("{path} accessor error: {found} is of the type {type_}, expected {expected}")
}
