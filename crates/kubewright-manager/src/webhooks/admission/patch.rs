//! Patches that contain only what a defaulter changed.
//!
//! A type does not have all fields of the object that was sent, and encodes some values differently. So the object that
//! was sent is not compared with the encoding of the defaulted one: the difference between the encodings before and
//! after the defaulter is applied to the object that was sent.

use json_patch::Patch;
use serde_json::{Map, Value};

/// The maximum number of pairs of items that are compared. The items of larger lists have the same positions.
const MAX_COMPARISONS: usize = 1 << 20;

/// Returns the patch of the object that was sent. `before` and `after` are the encodings of the decoded object before
/// and after the defaulter.
pub(super) fn of_changes(sent: &Value, before: &Value, after: &Value) -> Patch {
    let changed = change(sent, before, after);
    json_patch::diff(sent, &changed)
}

/// Returns the value that was sent with the changes between two encodings.
fn change(sent: &Value, before: &Value, after: &Value) -> Value {
    match (sent, before, after) {
        _ if before == after => sent.clone(),
        (Value::Object(sent), Value::Object(before), Value::Object(after)) => {
            Value::Object(change_fields(sent, before, after))
        }
        (Value::Array(sent), Value::Array(before), Value::Array(after)) if sent.len() == before.len() => {
            Value::Array(change_items(sent, before, after))
        }
        _ => after.clone(),
    }
}

fn change_fields(
    sent: &Map<String, Value>,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
) -> Map<String, Value> {
    let mut changed = sent.clone();
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        changed.remove(name);
    }
    for (name, after) in after {
        let value = match (sent.get(name), before.get(name)) {
            (_, Some(before)) if before == after => continue,
            (Some(sent), Some(before)) => change(sent, before, after),
            // The encoding contains an empty object or a default that was not sent.
            (None, Some(before)) => change_unsent(before, after),
            (_, None) => after.clone(),
        };
        changed.insert(name.clone(), value);
    }
    changed
}

/// Returns the changes of a value that was not sent: the changed fields of an object.
fn change_unsent(before: &Value, after: &Value) -> Value {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => Value::Object(change_fields(&Map::new(), before, after)),
        _ => after.clone(),
    }
}

/// Returns the items of a list with their changes. An item after the changes is that of the same value before them, or
/// else the one with the same name, or an unnamed one at the same position if no items were added or removed.
fn change_items(sent: &[Value], before: &[Value], after: &[Value]) -> Vec<Value> {
    let mut origins = Origins::new(before.len(), after.len());
    if before.len().saturating_mul(after.len()) <= MAX_COMPARISONS {
        origins.assign(|old, new| before[old] == after[new]);
        origins.assign(|old, new| name(&before[old]).is_some_and(|found| Some(found) == name(&after[new])));
    }
    if before.len() == after.len() {
        origins.assign_same_position(|index| name(&before[index]) == name(&after[index]));
    }
    let items = after.iter().zip(origins.of_items);
    items
        .map(|(after, origin)| origin.map_or_else(|| after.clone(), |old| change(&sent[old], &before[old], after)))
        .collect()
}

/// The positions that the items of a list had before the changes.
struct Origins {
    is_used: Vec<bool>,
    of_items: Vec<Option<usize>>,
}

impl Origins {
    fn new(before: usize, after: usize) -> Self {
        Origins { is_used: vec![false; before], of_items: vec![None; after] }
    }

    /// Assigns the first matching position to each item that has none: its own one, or else any other.
    fn assign(&mut self, is_origin: impl Fn(usize, usize) -> bool) {
        for (new, origin) in self.of_items.iter_mut().enumerate().filter(|(_, origin)| origin.is_none()) {
            let is_free = |old: &usize| !self.is_used[*old] && is_origin(*old, new);
            let same_position = Some(new).filter(|new| *new < self.is_used.len()).filter(is_free);
            *origin = same_position.or_else(|| (0..self.is_used.len()).find(is_free));
            if let Some(old) = *origin {
                self.is_used[old] = true;
            }
        }
    }

    /// Assigns its own position to each item that has none, if it matches.
    fn assign_same_position(&mut self, is_origin: impl Fn(usize) -> bool) {
        for (new, origin) in self.of_items.iter_mut().enumerate().filter(|(_, origin)| origin.is_none()) {
            if !self.is_used[new] && is_origin(new) {
                (*origin, self.is_used[new]) = (Some(new), true);
            }
        }
    }
}

/// Returns the name of an item, which identifies it in most lists of Kubernetes.
fn name(item: &Value) -> Option<&str> {
    item.get("name").and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns the operations as JSON, after checking that they can be applied to the object that was sent.
    fn operations(sent: &Value, before: &Value, after: &Value) -> Value {
        let patch = of_changes(sent, before, after);
        let mut patched = sent.clone();
        json_patch::patch(&mut patched, &patch).unwrap();
        assert_eq!(patched, change(sent, before, after));
        serde_json::to_value(patch).unwrap()
    }

    #[test]
    fn nothing_changed_is_an_empty_patch() {
        let (sent, encoded) = (json!({ "a": "1Gi", "unknown": 1 }), json!({ "a": "1024Mi", "empty": {} }));
        assert_eq!(operations(&sent, &encoded, &encoded), json!([]));
    }

    #[test]
    fn unknown_fields_and_other_encodings_remain() {
        let sent = json!({ "spec": { "size": "1Gi", "unknown": { "a": 1 }, "speed": 1 } });
        let before = json!({ "spec": { "size": "1024Mi", "speed": 1 } });
        let after = json!({ "spec": { "size": "1024Mi", "speed": 2, "mode": "fast" } });
        let expected = json!([
            { "op": "add", "path": "/spec/mode", "value": "fast" },
            { "op": "replace", "path": "/spec/speed", "value": 2 },
        ]);
        assert_eq!(operations(&sent, &before, &after), expected);
    }

    #[test]
    fn fields_below_one_that_was_not_sent_are_added_with_it() {
        let (sent, before) = (json!({}), json!({ "spec": { "list": [], "default": 3 } }));
        let after = json!({ "spec": { "list": [], "default": 3, "mode": "fast" } });
        let expected = json!([{ "op": "add", "path": "/spec", "value": { "mode": "fast" } }]);
        assert_eq!(operations(&sent, &before, &after), expected);
    }

    #[test]
    fn a_field_that_was_not_sent_is_not_removed() {
        let (sent, before, after) = (json!({ "b": 1 }), json!({ "a": {}, "b": 1 }), json!({ "b": 1 }));
        assert_eq!(operations(&sent, &before, &after), json!([]));
        let removed = operations(&json!({ "b": 1 }), &json!({ "b": 1 }), &json!({}));
        assert_eq!(removed, json!([{ "op": "remove", "path": "/b" }]));
    }

    #[test]
    fn names_are_escaped() {
        let sent = json!({ "labels": { "x": "y" } });
        let after = json!({ "labels": { "x": "y", "example.com/a~b": "c" } });
        let expected = json!([{ "op": "add", "path": "/labels/example.com~1a~0b", "value": "c" }]);
        assert_eq!(operations(&sent, &sent, &after), expected);
    }

    #[test]
    fn an_item_keeps_its_unknown_fields() {
        let sent = json!([{ "name": "a", "unknown": 1 }, { "name": "b", "unknown": 2 }]);
        let before = json!([{ "name": "a" }, { "name": "b" }]);
        for (after, expected) in [
            (
                json!([{ "name": "a" }, { "name": "b", "image": "x" }]),
                json!([{ "name": "a", "unknown": 1 }, { "name": "b", "unknown": 2, "image": "x" }]),
            ),
            (
                json!([{ "name": "new" }, { "name": "a" }, { "name": "b", "image": "x" }]),
                json!([{ "name": "new" }, { "name": "a", "unknown": 1 }, { "name": "b", "unknown": 2, "image": "x" }]),
            ),
            (json!([{ "name": "b" }]), json!([{ "name": "b", "unknown": 2 }])),
            (json!([{ "name": "a" }, { "name": "c" }]), json!([{ "name": "a", "unknown": 1 }, { "name": "c" }])),
        ] {
            assert_eq!(change(&sent, &before, &after), expected, "{after}");
            operations(&sent, &before, &after);
        }
    }

    #[test]
    fn equal_items_keep_their_positions() {
        let (sent, before) = (json!(["1Gi", "1Gi"]), json!(["1024Mi", "1024Mi"]));
        assert_eq!(change(&sent, &before, &json!(["1024Mi", "1024Mi", "new"])), json!(["1Gi", "1Gi", "new"]));
        assert_eq!(change(&sent, &before, &json!(["1024Mi"])), json!(["1Gi"]));
        // A list that the type decodes to another length is replaced.
        assert_eq!(change(&json!([1, 2, 3]), &before, &json!(["new"])), json!(["new"]));
    }
}
