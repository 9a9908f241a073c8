//! The scale subresource: converts between objects and `autoscaling/v1` Scale, with the paths of the kind.

use k8s_openapi::{
    api::autoscaling::v1::{Scale, ScaleSpec, ScaleStatus},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use serde_json::{Map, Value, json};

use crate::{
    api::{
        depth,
        error::FieldError,
        go,
        kind::{Kind, ScalePaths},
        object::Object,
    },
    resource::selector,
};

const MAP: &str = "map[string]interface{}";

/// Validates the replicas and the selector of an object, or only its status for a write of `/status`.
pub(crate) fn check(object: &Object, paths: &ScalePaths, status_only: bool) -> Vec<FieldError> {
    let spec = (!status_only).then_some(&paths.spec_replicas_path);
    let counts = spec.into_iter().chain([&paths.status_replicas_path]);
    let mut errors: Vec<FieldError> = counts.filter_map(|path| check_replicas(object, path)).collect();
    if let Some(path) = selector_path(paths)
        && let Err(detail) = text(&object.body, path)
    {
        errors.push(FieldError::invalid(path, "\"\"", detail));
    }
    errors
}

/// Returns the Scale of an object, with replicas only if they are set.
///
/// # Errors
/// A field has the wrong type.
pub(crate) fn of_object(kind: &Kind, object: &Object, paths: &ScalePaths) -> Result<Scale, String> {
    let spec = integer(&object.body, &paths.spec_replicas_path)?;
    let status = integer(&object.body, &paths.status_replicas_path)?;
    let selector = match kind.is_custom {
        false => object.field("spec.selector").map(|selector| selector_text(kind, selector)),
        true => selector_path(paths).map_or(Ok(None), |path| text(&object.body, path))?.map(str::to_owned),
    };
    // Objects that are older than the scale subresource can have larger counts. The real server truncates them too.
    let truncate = |count: i64| count as i32;
    Ok(Scale {
        metadata: metadata(&object.metadata),
        spec: Some(ScaleSpec { replicas: spec.map(truncate) }),
        status: Some(ScaleStatus {
            replicas: status.map(truncate).unwrap_or_default(),
            selector: selector.filter(|selector| !selector.is_empty()),
        }),
    })
}

/// Formats the selector of a built-in kind: a label selector, or labels for a replication controller.
fn selector_text(kind: &Kind, selector: &Value) -> String {
    match kind.kind.as_str() {
        "ReplicationController" => selector::to_text(&json!({ "matchLabels": selector })),
        _ => selector::to_text(selector),
    }
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

pub(crate) fn replicas(scale: &Scale) -> Option<i32> {
    scale.spec.as_ref().and_then(|spec| spec.replicas)
}

/// Returns the encoded representation. Go omits zero replicas.
pub(crate) fn sent(mut scale: Scale) -> Scale {
    let replicas = replicas(&scale).filter(|replicas| *replicas != 0);
    scale.spec = Some(ScaleSpec { replicas });
    scale
}

fn check_replicas(object: &Object, path: &str) -> Option<FieldError> {
    match integer(&object.body, path) {
        Err(detail) => Some(FieldError::invalid(path, 0, detail)),
        Ok(Some(count)) if count < 0 => Some(FieldError::invalid(path, count, "should be a non-negative integer")),
        Ok(Some(count)) if count > i64::from(i32::MAX) => {
            Some(FieldError::invalid(path, count, format!("should be less than or equal to {}", i32::MAX)))
        }
        Ok(_) => None,
    }
}

fn selector_path(paths: &ScalePaths) -> Option<&str> {
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

/// Returns the value at a path, if it exists.
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

/// Sets the replicas at a path and creates missing parents.
pub(crate) fn set_replicas(body: &mut Map<String, Value>, path: &str, replicas: i32) -> Result<(), String> {
    let names = names(path);
    if names.len() > depth::MAX_DEPTH {
        return Err(format!("value cannot be set because its path has more than {} fields", depth::MAX_DEPTH));
    }
    let last = names.len() - 1;
    let mut fields = body;
    for (index, name) in names[..last].iter().enumerate() {
        let child = fields.entry(*name).or_insert_with(|| json!({}));
        let not_a_map = || format!("value cannot be set because {} is not a {MAP}", json_path(&names[..=index]));
        fields = child.as_object_mut().ok_or_else(not_a_map)?;
    }
    fields.insert(names[last].to_owned(), json!(replicas));
    Ok(())
}

/// Splits a path into at least one name.
pub(crate) fn names(path: &str) -> Vec<&str> {
    path.strip_prefix('.').unwrap_or(path).split('.').collect()
}

fn json_path(names: &[&str]) -> String {
    format!(".{}", names.join("."))
}

fn accessor_error(names: &[&str], value: &Value, expected: &str) -> String {
    let (path, found, type_) = (json_path(names), go::text(value), go::type_name(value));
    format!("{path} accessor error: {found} is of the type {type_}, expected {expected}")
}
