//! Merges lists and orders the result.
//!
//! Items of the patch are in the order of the patch, items that only the object has in the order of the object. Between
//! both, the order of the object applies.

use serde_json::Value;

use super::{
    Fields, ORDER, PATCH, format_map, merge as merge_maps,
    schema::{PatchSchema, Strategy},
    unknown_directive, without_directives,
};
use crate::api::{
    error::{ApiError, Result},
    go,
};

type Items = Vec<Value>;

/// Merges the lists with a `$setElementOrder` directive, and removes them from the patch.
pub(super) fn merge_ordered(original: &mut Fields, patch: &mut Fields, schema: PatchSchema<'_>) -> Result<()> {
    let orders: Vec<String> = patch.keys().filter(|key| key.starts_with(ORDER)).cloned().collect();
    for key in orders {
        let order = list(patch.remove(&key).unwrap_or_default())?;
        let name = key.strip_prefix(ORDER).and_then(|rest| rest.strip_prefix('/'));
        let name = name.ok_or_else(invalid_order)?;
        if let Some(type_) = schema.missing_field_type(name) {
            let message = format!("unable to find api field in struct {type_} for the json field {name:?}");
            return Err(ApiError::internal(message));
        }
        let old = original.get(name).cloned().map(list).transpose()?;
        let new = patch.get(name).cloned().map(list).transpose()?;
        let (inside, strategy) = schema.field(name);
        check_order(new.as_deref().unwrap_or_default(), &order, key_of(strategy))?;
        let merged = match (old.clone(), new) {
            (None, None) => continue,
            (Some(old), None) => old,
            (None, Some(new)) => new.into_iter().filter_map(without_directives).collect(),
            (Some(old), Some(new)) if strategy.merges_lists() => merge(old, new, strategy, inside)?,
            (Some(_), Some(new)) => new,
        };
        let sorted = sorted(merged, &order, &old.unwrap_or_default(), key_of(strategy))?;
        original.insert(name.to_owned(), Value::Array(sorted));
        patch.remove(name);
    }
    Ok(())
}

/// Merges two lists.
pub(super) fn merge(old: Items, new: Items, strategy: Strategy<'_>, schema: PatchSchema<'_>) -> Result<Items> {
    if old.iter().chain(&new).any(Value::is_array) {
        return Err(ApiError::internal("lists of lists are not supported"));
    }
    let Strategy::ByKey(key) = strategy else {
        return union(old, new);
    };
    // Go replaces lists that it cannot merge, and fails to decode them later.
    if !old.iter().chain(&new).all(Value::is_object) {
        return Ok(new);
    }
    let (mut merged, plain) = apply_directives(old.clone(), new, key)?;
    for item in &plain {
        let value = item.get(key).ok_or_else(|| no_key(item, key))?;
        match merged.iter_mut().find(|other| other.get(key) == Some(value)) {
            Some(Value::Object(other)) => *other = merge_maps(std::mem::take(other), fields(item), schema)?,
            _ => merged.push(item.clone()),
        }
    }
    sorted(merged, &plain, &old, Some(key))
}

/// Removes values from a list.
pub(super) fn delete(original: &mut Fields, name: &str, values: &Value) {
    let deleted = values.as_array().map(Vec::as_slice).unwrap_or_default();
    if let Some(Value::Array(items)) = original.get_mut(name) {
        items.retain(|item| !deleted.contains(item));
    }
}

fn union(old: Items, new: Items) -> Result<Items> {
    let mut both: Items = Vec::new();
    for item in old.iter().chain(&new) {
        if !both.contains(item) {
            both.push(item.clone());
        }
    }
    sorted(both, &new, &old, None)
}

/// Applies the `$patch` directives of items, and returns the remaining items of both lists.
fn apply_directives(mut old: Items, new: Items, key: &str) -> Result<(Items, Items)> {
    let (mut plain, mut replaces) = (Vec::new(), false);
    for item in new {
        match item.get(PATCH).map(Value::as_str) {
            None => plain.push(item),
            Some(Some("delete")) => {
                let value = item.get(key).ok_or_else(|| no_key(&item, key))?;
                old.retain(|other| other.get(key) != Some(value));
            }
            Some(Some("replace")) => replaces = true,
            Some(Some("merge")) => {
                return Err(ApiError::internal("merging lists cannot yet be specified in the patch"));
            }
            Some(_) => return Err(unknown_directive(&fields(&item))),
        }
    }
    Ok(if replaces { (plain, Vec::new()) } else { (old, plain) })
}

/// Validates that the items of the patch are in the `$setElementOrder` list, in the same order.
fn check_order(items: &[Value], order: &[Value], key: Option<&str>) -> Result<()> {
    let mut order_left = order.iter();
    let plain = items.iter().filter(|item| item.get(PATCH).is_none());
    for item in plain.filter(|_| !order.is_empty()) {
        let id = identity(item, key)?;
        let position = order_left.by_ref().map(|other| identity(other, key)).find(|other| match other {
            Ok(other) => *other == id,
            Err(_) => true,
        });
        match position {
            Some(Err(error)) => return Err(error),
            Some(Ok(_)) => {}
            None => {
                let [items, order] = [items, order].map(|list| go::text(&Value::from(list.to_vec())));
                let message = format!("The order in patch list:\n{items}\n doesn't match {ORDER} list:\n{order}\n");
                return Err(ApiError::internal(message));
            }
        }
    }
    Ok(())
}

/// Sorts the items in `order` by it, and inserts the others by their order in `before`.
fn sorted(items: Items, order: &[Value], before: &[Value], key: Option<&str>) -> Result<Items> {
    let rank = |list: &[Value], item: &Value| -> Option<usize> {
        let id = identity(item, key).ok()?;
        list.iter().position(|other| identity(other, key).is_ok_and(|other| other == id))
    };
    for item in &items {
        identity(item, key)?;
    }
    let (mut named, mut others): (Items, Items) = items.into_iter().partition(|item| rank(order, item).is_some());
    named.sort_by_key(|item| rank(order, item));
    others.sort_by_key(|item| rank(before, item).unwrap_or(usize::MAX));
    let mut others = others.into_iter().peekable();
    let mut merged = Vec::new();
    for item in named {
        let position = rank(before, &item);
        let precedes = |other: &Value| rank(before, other).zip(position).is_some_and(|(other, item)| other < item);
        while let Some(other) = others.next_if(|other| precedes(other)) {
            merged.push(other);
        }
        merged.push(item);
    }
    merged.extend(others);
    Ok(merged)
}

/// Returns the identity of an item: its key, or the item.
fn identity<'a>(item: &'a Value, key: Option<&str>) -> Result<&'a Value> {
    let Some(key) = key else { return Ok(item) };
    if !item.is_object() {
        let message = format!("expected a map[string]interface {{}}, but received a {}", go::type_name(item));
        return Err(ApiError::internal(message));
    }
    item.get(key).ok_or_else(|| no_key(item, key))
}

fn key_of<'a>(strategy: Strategy<'a>) -> Option<&'a str> {
    match strategy {
        Strategy::ByKey(key) => Some(key),
        Strategy::Unspecified | Strategy::Replace | Strategy::Union => None,
    }
}

fn list(value: Value) -> Result<Items> {
    match value {
        Value::Array(items) => Ok(items),
        other => {
            let message = format!("expected a []interface {{}}, but received a {}", go::type_name(&other));
            Err(ApiError::internal(message))
        }
    }
}

fn fields(item: &Value) -> Fields {
    item.as_object().cloned().unwrap_or_default()
}

fn no_key(item: &Value, key: &str) -> ApiError {
    ApiError::internal(format!("map: {} does not contain declared merge key: {key}", format_map(&fields(item))))
}

fn invalid_order() -> ApiError {
    ApiError::bad_request("invalid patch format of setElementOrder list")
}
