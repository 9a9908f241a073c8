//! Merges an applied configuration into a live object, by the type of each field.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map as Fields, Value};

use super::{
    path::PathElement,
    types::{Identity, List, Map, Shape, Type},
};

/// Merges the applied value into the live one. Nothing is removed, and applied leaves replace live ones. Items are in
/// the live order, unless the applied order differs.
pub(crate) fn merge(live: &Value, applied: &Value, type_: &Type) -> Value {
    merged(Some(live), Some(applied), type_).unwrap_or(Value::Null)
}

fn merged(live: Option<&Value>, applied: Option<&Value>, type_: &Type) -> Option<Value> {
    let leaf = || applied.or(live).cloned();
    match type_.shape(applied.or(live)) {
        Shape::Scalar(_) => leaf(),
        Shape::List(list) => {
            let [live, applied] = [live, applied].map(items);
            if list.identity == Identity::None || live.is_empty() && applied.is_empty() {
                return leaf();
            }
            merged_items(live, applied, list)
        }
        Shape::Map(map) => {
            let [live, applied] = [live, applied].map(|value| value.and_then(Value::as_object));
            let is_empty = |fields: Option<&Fields<String, Value>>| fields.is_none_or(Fields::is_empty);
            if map.atomic || is_empty(live) && is_empty(applied) {
                return leaf();
            }
            merged_fields(live, applied, map)
        }
    }
}

fn items(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn merged_fields(
    live: Option<&Fields<String, Value>>,
    applied: Option<&Fields<String, Value>>,
    map: &Map,
) -> Option<Value> {
    let names: BTreeSet<&String> = [live, applied].into_iter().flatten().flat_map(|fields| fields.keys()).collect();
    let field = |name: &String| {
        let [live, applied] = [live, applied].map(|fields| fields.and_then(|fields| fields.get(name)));
        Some((name.clone(), merged(live, applied, map.field(name).unwrap_or(&Type::Deduced))?))
    };
    let fields: Fields<String, Value> = names.into_iter().filter_map(field).collect();
    (!fields.is_empty()).then_some(Value::Object(fields))
}

/// Merges two lists. Common items are in the applied order, and live items remain before the common item that they
/// precede.
fn merged_items(live: &[Value], applied: &[Value], list: &List) -> Option<Value> {
    let live: Vec<(PathElement, &Value)> = elements(live, list);
    let applied: Vec<(PathElement, &Value)> = elements(applied, list);
    let in_live = unique_items(&live);
    let in_applied = unique_items(&applied);
    let common: Vec<&PathElement> =
        applied.iter().map(|(element, _)| element).filter(|element| in_live.contains_key(element)).collect();
    let mut common = common.into_iter();
    let mut next_common = common.next();
    let mut merged_elements: BTreeSet<&PathElement> = BTreeSet::new();
    let mut out = Vec::new();
    let both =
        |element: &PathElement| merged(in_live.get(element).copied(), in_applied.get(element).copied(), &list.item);
    let (mut l, mut a) = (0, 0);
    while l < live.len() || a < applied.len() {
        if let (Some((element, _)), Some((other, _))) = (live.get(l), applied.get(a)) {
            if element == other {
                merged_elements.insert(element);
                out.extend(both(element));
                (l, a) = (l + 1, a + 1);
                next_common = common.next();
                continue;
            }
            if in_applied.contains_key(element) && next_common.is_some_and(|next| next != element) {
                // The applied list determines the position of this item.
                l += 1;
                continue;
            }
        }
        if let Some((element, item)) = live.get(l) {
            if !in_applied.contains_key(element) {
                out.extend(merged(Some(item), None, &list.item));
                l += 1;
                continue;
            }
            if merged_elements.contains(element) {
                l += 1;
            }
        }
        if let Some((element, _)) = applied.get(a) {
            merged_elements.insert(element);
            out.extend(both(element));
            a += 1;
            if next_common == Some(element) {
                next_common = common.next();
            }
        }
    }
    (!out.is_empty()).then_some(Value::Array(out))
}

fn elements<'a>(items: &'a [Value], list: &List) -> Vec<(PathElement, &'a Value)> {
    items.iter().filter_map(|item| Some((list.element(item).ok()?, item))).collect()
}

/// Returns the item of each element. Duplicate items are null: they are not merged.
fn unique_items<'a>(items: &[(PathElement, &'a Value)]) -> BTreeMap<PathElement, &'a Value> {
    let mut by_element = BTreeMap::new();
    for (element, item) in items {
        by_element.entry(element.clone()).and_modify(|item| *item = &Value::Null).or_insert(*item);
    }
    by_element
}
