//! Strategic merge patches: merge patches with the merge strategies of the lists of built-in kinds.
//!
//! The rules are those of Kubernetes' `strategicpatch`: lists whose items have a key are merged item by item, lists of
//! single values as sets, and directives in the patch (`$patch`, `$retainKeys`, `$setElementOrder`,
//! `$deleteFromPrimitiveList`) express what values cannot.

mod lists;
mod schema;

use serde_json::{Map, Value};

use crate::{
    api::{
        error::{ApiError, Result},
        go,
    },
    resource::registry::Resource,
};

use schema::{PatchSchema, Strategy};

type Fields = Map<String, Value>;

const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const ORDER: &str = "$setElementOrder";
const DELETIONS: &str = "$deleteFromPrimitiveList";

/// Applies a patch to the fields of an object. Without a kind, lists are replaced.
pub(crate) fn apply(kind: Option<&Resource>, patch: Fields, object: Fields) -> Result<Fields> {
    merge(object, patch, PatchSchema::root(kind))
}

/// Merges a patch into a map.
fn merge(mut original: Fields, mut patch: Fields, schema: PatchSchema<'_>) -> Result<Fields> {
    if let Some(directive) = patch.remove(PATCH) {
        return match directive.as_str() {
            Some("replace") => Ok(patch),
            Some("delete") => Ok(Fields::new()),
            _ => {
                patch.insert(PATCH.to_owned(), directive);
                Err(unknown_directive(&patch))
            }
        };
    }
    retain_keys(&mut original, &mut patch)?;
    lists::merge_ordered(&mut original, &mut patch, schema)?;
    for (key, value) in patch {
        match deletions_of(&key) {
            Some(Err(error)) => return Err(error),
            Some(Ok(name)) => lists::delete(&mut original, name, &value),
            None => merge_field(&mut original, key, value, schema)?,
        }
    }
    Ok(original)
}

fn merge_field(original: &mut Fields, key: String, value: Value, schema: PatchSchema<'_>) -> Result<()> {
    let (inside, strategy) = schema.field(&key);
    let merged = match (original.remove(&key), value) {
        (_, Value::Null) => None,
        (Some(Value::Object(_)), Value::Object(new)) if strategy == Strategy::Replace => Some(Value::Object(new)),
        (Some(Value::Object(old)), Value::Object(new)) => Some(Value::Object(merge(old, new, inside)?)),
        (Some(Value::Array(old)), Value::Array(new)) if strategy.merges_lists() => {
            Some(Value::Array(lists::merge(old, new, strategy, inside)?))
        }
        (Some(Value::Array(_)), Value::Array(new)) => Some(Value::Array(new)),
        (_, mut new) => {
            drop_nulls(&mut new);
            without_directives(new)
        }
    };
    if let Some(merged) = merged {
        original.insert(key, merged);
    }
    Ok(())
}

/// Applies the directive `$retainKeys`: drops all fields that it does not list.
fn retain_keys(original: &mut Fields, patch: &mut Fields) -> Result<()> {
    let Some(directive) = patch.remove(RETAIN_KEYS) else {
        return Ok(());
    };
    let invalid = || ApiError::bad_request("invalid patch format of retainKeys");
    let retained = directive.as_array().ok_or_else(invalid)?;
    let is_retained = |name: &String| retained.iter().any(|retained| retained.as_str() == Some(name));
    let is_not_directive = |name: &str| !name.starts_with(DELETIONS) && !name.starts_with(ORDER);
    if patch.iter().any(|(name, value)| !value.is_null() && is_not_directive(name) && !is_retained(name)) {
        return Err(invalid());
    }
    original.retain(|name, _| is_retained(name));
    Ok(())
}

/// Returns the name of the list for a key `$deleteFromPrimitiveList/name`.
fn deletions_of(key: &str) -> Option<Result<&str>> {
    let rest = key.strip_prefix(DELETIONS)?;
    Some(rest.strip_prefix('/').ok_or_else(|| ApiError::bad_request("invalid patch format of primitive list")))
}

/// Returns the value for a field that did not exist, without directives, or `None` if it consists of directives.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key(PATCH) => None,
        Value::Object(fields) => {
            let fields = fields.into_iter().filter_map(|(name, value)| Some((name, without_directives(value)?)));
            Some(Value::Object(fields.collect()))
        }
        Value::Array(items) => Some(Value::Array(items.into_iter().filter_map(without_directives).collect())),
        other => Some(other),
    }
}

fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn unknown_directive(patch: &Fields) -> ApiError {
    let directive = patch.get(PATCH).map(go::text).unwrap_or_default();
    ApiError::internal(format!("unknown patch type: {directive} in map: {}", format_map(patch)))
}

/// Formats a map as Go prints it.
fn format_map(fields: &Fields) -> String {
    go::text(&Value::Object(fields.clone()))
}
