//! Strategic merge patches: merge patches that know how the lists of built-in kinds are merged.
//!
//! The rules are those of Kubernetes' `strategicpatch`: lists whose items have a key are merged item by item, lists of single
//! values as sets, and directives in the patch (`$patch`, `$retainKeys`, `$setElementOrder`, `$deleteFromPrimitiveList`)
//! say what a value cannot.

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

use schema::{Place, Strategy};

type Fields = Map<String, Value>;

const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const ORDER: &str = "$setElementOrder";
const DELETIONS: &str = "$deleteFromPrimitiveList";

/// Applies a patch to the fields of an object of a built-in kind, or of one that has no lists.
pub(crate) fn apply(kind: Option<&Resource>, patch: Fields, object: Fields) -> Result<Fields> {
    merge(object, patch, Place::root(kind))
}

/// Merges a patch into a map.
fn merge(mut original: Fields, mut patch: Fields, place: Place<'_>) -> Result<Fields> {
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
    lists::in_order(&mut original, &mut patch, place)?;
    for (key, value) in patch {
        match deletions_of(&key) {
            Some(Err(refusal)) => return Err(refusal),
            Some(Ok(name)) => lists::delete(&mut original, name, &value),
            None => merge_field(&mut original, key, value, place)?,
        }
    }
    Ok(original)
}

fn merge_field(original: &mut Fields, key: String, value: Value, place: Place<'_>) -> Result<()> {
    let (inside, strategy) = place.field(&key);
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

/// Drops the fields that a patch does not want kept.
fn retain_keys(original: &mut Fields, patch: &mut Fields) -> Result<()> {
    let Some(directive) = patch.remove(RETAIN_KEYS) else {
        return Ok(());
    };
    let bad = || ApiError::bad_request("invalid patch format of retainKeys");
    let kept = directive.as_array().ok_or_else(bad)?;
    let is_kept = |name: &String| kept.iter().any(|kept| kept.as_str() == Some(name));
    let is_plain = |name: &str| !name.starts_with(DELETIONS) && !name.starts_with(ORDER);
    if patch.iter().any(|(name, value)| !value.is_null() && is_plain(name) && !is_kept(name)) {
        return Err(bad());
    }
    original.retain(|name, _| is_kept(name));
    Ok(())
}

/// The list that a list of deletions is for, if it is one.
fn deletions_of(key: &str) -> Option<Result<&str>> {
    let rest = key.strip_prefix(DELETIONS)?;
    Some(rest.strip_prefix('/').ok_or_else(|| ApiError::bad_request("invalid patch format of primitive list")))
}

/// The value of a patch that is put where there was none; nothing, if all it says is how to merge.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key(PATCH) => None,
        Value::Object(fields) => {
            let kept = fields.into_iter().filter_map(|(name, value)| Some((name, without_directives(value)?)));
            Some(Value::Object(kept.collect()))
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
    ApiError::internal(format!("unknown patch type: {directive} in map: {}", shown(patch)))
}

/// A map as Go prints it.
fn shown(fields: &Fields) -> String {
    go::text(&Value::Object(fields.clone()))
}
