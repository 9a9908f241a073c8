//! Fields that are none

use k8s_openapi::{
    api::core::v1::Namespace, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::text;
use crate::{
    api::error::{ApiError, Result},
    handlers::call::Call,
    resource::registry::{Family, Resource},
};

/// What is said of one.
pub(crate) fn told(path: &String) -> String {
    format!("unknown field {path:?}")
}

/// What is said to who wants to have no mistakes.
pub(crate) fn strict_error(mistakes: &[String]) -> String {
    format!("strict decoding error: {}", mistakes.join(", "))
}

/// What is unknown in a body of another version of a custom kind is told by that version's schema, before the body is refused.
pub(super) fn check_other_version(call: &Call, fields: &Map<String, Value>) -> Result<()> {
    let kind = &call.kind;
    let Some(versions) = kind.versions().filter(|_| text(fields, "kind") == kind.kind) else {
        return Ok(());
    };
    let (group, version) = text(fields, "apiVersion").split_once('/').unwrap_or_default();
    if group != kind.group || version == kind.version {
        return Ok(());
    }
    let mut unknown = of_metadata(fields);
    unknown.extend(versions.unknown(version, fields));
    let mut mistakes = call.mistakes.take();
    mistakes.extend(unknown.iter().map(told));
    if call.is_strict() && !mistakes.is_empty() {
        let name = &kind.kind;
        let why = strict_error(&mistakes);
        return Err(ApiError::bad_request(format!(
            "{name} in version {version:?} cannot be handled as a {name}: {why}"
        )));
    }
    call.warn(&mistakes);
    Ok(())
}

/// The fields of the metadata that are none.
pub(crate) fn of_metadata(fields: &Map<String, Value>) -> Vec<String> {
    const KNOWN: [&str; 15] = [
        "annotations",
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "finalizers",
        "generateName",
        "generation",
        "labels",
        "managedFields",
        "name",
        "namespace",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    ];
    let metadata = fields.get("metadata").and_then(Value::as_object).into_iter().flatten();
    let unknown = metadata.map(|(name, _)| name).filter(|name| !KNOWN.contains(&name.as_str()));
    unknown.map(|name| format!("metadata.{name}")).collect()
}

/// The fields of an object that its Go struct does not have, of a kind that has no schema here. One that cannot be read is refused
/// for that.
pub(super) fn of_struct(kind: &Resource, fields: &Map<String, Value>) -> Vec<String> {
    let typed = match kind.family {
        Family::Definition => read::<CustomResourceDefinition>(kind, fields),
        Family::Namespace => read::<Namespace>(kind, fields),
        Family::BuiltIn(_) | Family::Custom { .. } => None,
    };
    let mut unknown = Vec::new();
    if let Some(typed) = typed {
        compare(&json!(fields), &typed, "", &mut unknown);
    }
    unknown
}

/// An object with no more than its type has.
fn read<T: Serialize + DeserializeOwned>(kind: &Resource, fields: &Map<String, Value>) -> Option<Value> {
    let mut whole = fields.clone();
    whole.insert("apiVersion".to_owned(), kind.api_version().into());
    whole.insert("kind".to_owned(), kind.kind.clone().into());
    let typed: T = serde_json::from_value(whole.into()).ok()?;
    serde_json::to_value(typed).ok()
}

/// Finds the fields that are not there any more.
fn compare(before: &Value, after: &Value, path: &str, unknown: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let mut names: Vec<&String> = before.keys().collect();
            names.sort();
            for name in names {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                match (&before[name], after.get(name)) {
                    (Value::Null, _) => {}
                    (before, Some(after)) => compare(before, after, &path, unknown),
                    (_, None) => unknown.push(path),
                }
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            for (index, (before, after)) in before.iter().zip(after).enumerate() {
                compare(before, after, &format!("{path}[{index}]"), unknown);
            }
        }
        _ => {}
    }
}
