//! The merging of lists, and the order of what comes out.
//!
//! Items of the patch stand in the order the patch says, those of the object alone in that of the object, and between the two
//! the object's order decides where it knows both.

use serde_json::Value;

use super::{
    Fields, ORDER, PATCH, merge as merge_maps,
    schema::{Place, Strategy},
    shown, unknown_directive, without_directives,
};
use crate::api::{
    error::{ApiError, Result},
    go,
};

type Items = Vec<Value>;

/// Merges the lists whose order the patch says, and takes them out of it.
pub(super) fn in_order(original: &mut Fields, patch: &mut Fields, place: Place<'_>) -> Result<()> {
    let orders: Vec<String> = patch.keys().filter(|key| key.starts_with(ORDER)).cloned().collect();
    for key in orders {
        let order = list(patch.remove(&key).unwrap_or_default())?;
        let name = key.strip_prefix(ORDER).and_then(|rest| rest.strip_prefix('/'));
        let name = name.ok_or_else(bad_order)?;
        if let Some(type_) = place.lacks(name) {
            let why = format!("unable to find api field in struct {type_} for the json field {name:?}");
            return Err(ApiError::internal(why));
        }
        let old = original.get(name).cloned().map(list).transpose()?;
        let new = patch.get(name).cloned().map(list).transpose()?;
        let (inside, strategy) = place.field(name);
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

/// Merges a list into a list of the same sort.
pub(super) fn merge(old: Items, new: Items, strategy: Strategy<'_>, place: Place<'_>) -> Result<Items> {
    if old.iter().chain(&new).any(Value::is_array) {
        return Err(ApiError::internal("lists of lists are not supported"));
    }
    let Strategy::ByKey(key) = strategy else {
        return union(old, new);
    };
    // What Go cannot merge it takes as it is, and cannot read afterwards.
    if !old.iter().chain(&new).all(Value::is_object) {
        return Ok(new);
    }
    let (mut merged, plain) = directed(old.clone(), new, key)?;
    for item in &plain {
        let value = item.get(key).ok_or_else(|| no_key(item, key))?;
        match merged.iter_mut().find(|other| other.get(key) == Some(value)) {
            Some(Value::Object(other)) => *other = merge_maps(std::mem::take(other), fields(item), place)?,
            _ => merged.push(item.clone()),
        }
    }
    sorted(merged, &plain, &old, Some(key))
}

/// Takes single values out of a list.
pub(super) fn delete(original: &mut Fields, name: &str, values: &Value) {
    let gone = values.as_array().map(Vec::as_slice).unwrap_or_default();
    if let Some(Value::Array(items)) = original.get_mut(name) {
        items.retain(|item| !gone.contains(item));
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

/// Does what items of the patch say is to be done, and returns what is left of both lists.
fn directed(mut old: Items, new: Items, key: &str) -> Result<(Items, Items)> {
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

/// The items of the patch must stand as the order says, and be in it.
fn check_order(items: &[Value], order: &[Value], key: Option<&str>) -> Result<()> {
    let mut order_left = order.iter();
    let plain = items.iter().filter(|item| item.get(PATCH).is_none());
    for item in plain.filter(|_| !order.is_empty()) {
        let id = identity(item, key)?;
        let is_there = order_left.by_ref().map(|other| identity(other, key)).find(|other| match other {
            Ok(other) => *other == id,
            Err(_) => true,
        });
        match is_there {
            Some(Err(refusal)) => return Err(refusal),
            Some(Ok(_)) => {}
            None => {
                let [items, order] = [items, order].map(|list| go::text(&Value::from(list.to_vec())));
                let why = format!("The order in patch list:\n{items}\n doesn't match {ORDER} list:\n{order}\n");
                return Err(ApiError::internal(why));
            }
        }
    }
    Ok(())
}

/// Puts items that are in `order` as they are there, and the others among them as they were.
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
        let place = rank(before, &item);
        let comes_first = |other: &Value| rank(before, other).zip(place).is_some_and(|(other, item)| other < item);
        while let Some(other) = others.next_if(|other| comes_first(other)) {
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
        let why = format!("expected a map[string]interface {{}}, but received a {}", go::type_name(item));
        return Err(ApiError::internal(why));
    }
    item.get(key).ok_or_else(|| no_key(item, key))
}

fn key_of<'a>(strategy: Strategy<'a>) -> Option<&'a str> {
    match strategy {
        Strategy::ByKey(key) => Some(key),
        Strategy::Usual | Strategy::Replace | Strategy::Union => None,
    }
}

fn list(value: Value) -> Result<Items> {
    match value {
        Value::Array(items) => Ok(items),
        other => {
            let why = format!("expected a []interface {{}}, but received a {}", go::type_name(&other));
            Err(ApiError::internal(why))
        }
    }
}

fn fields(item: &Value) -> Fields {
    item.as_object().cloned().unwrap_or_default()
}

fn no_key(item: &Value, key: &str) -> ApiError {
    ApiError::internal(format!("map: {} does not contain declared merge key: {key}", shown(&fields(item))))
}

fn bad_order() -> ApiError {
    ApiError::bad_request("invalid patch format of setElementOrder list")
}
