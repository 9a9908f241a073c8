//! Overrides: marks in the schema of a type that replace parts of the generated definition.
//!
//! `crd import` writes `x-kubewright-override` for everything that Rust types cannot express. Its keys are:
//!
//! - on a kind or a field, the JSON pointers of schemas below it, with keywords: a keyword replaces the generated one,
//!   and a null removes it;
//! - on a kind, `version`: a JSON merge patch of its version in the definition;
//! - on a kind, `definition`: a JSON merge patch of the definition.
//!
//! The value can also be a string that contains JSON.

use kubewright_crd::structural::Extensions;
use kubewright_names::extension::Extension;
use serde_json::{Map, Value, json};

use crate::{
    diagnostic::{Diagnostics, RustItem},
    schema_path::{pointer_of_path, text_of_pointer},
};

/// The key of the patch of a version. JSON pointers are empty, or start with a slash.
pub(crate) const VERSION: &str = "version";
/// The key of the patch of a definition.
pub(crate) const DEFINITION: &str = "definition";

/// The JSON merge patches of a kind.
#[derive(Default)]
pub(super) struct Patches {
    pub(super) version: Option<Value>,
    pub(super) definition: Option<Value>,
}

/// Applies the overrides of a schema, and returns the patches of its kind.
pub(super) fn apply(schema: &mut Value, marks: &Extensions, item: &RustItem, errors: &mut Diagnostics) -> Patches {
    let mut patches = Patches::default();
    for (path, value) in marks.get(&Extension::Override).into_iter().flatten() {
        let Some(mut overrides) = object(value) else {
            errors.push(item.at(path), "`x-kubewright-override` is not an object");
            continue;
        };
        if path.is_empty() {
            let mut patch = |key| patch(&mut overrides, key, item, errors);
            patches = Patches { version: patch(VERSION), definition: patch(DEFINITION) };
        }
        let base = text_of_pointer(&pointer_of_path(schema, path));
        for (pointer, keywords) in &overrides {
            let node = schema.pointer_mut(&format!("{base}{pointer}")).and_then(Value::as_object_mut);
            let Some((node, keywords)) = node.zip(keywords.as_object()) else {
                errors.push(item.at(path), format!("`x-kubewright-override`: there is no schema at `{pointer}`"));
                continue;
            };
            replace(node, keywords);
        }
    }
    patches
}

fn patch(overrides: &mut Map<String, Value>, key: &str, item: &RustItem, errors: &mut Diagnostics) -> Option<Value> {
    let patch = overrides.remove(key)?;
    if !patch.is_object() {
        errors.push(item, format!("`{key}` of `x-kubewright-override` is not an object"));
    }
    Some(patch).filter(Value::is_object)
}

fn replace(node: &mut Map<String, Value>, keywords: &Map<String, Value>) {
    for (keyword, value) in keywords {
        match value {
            Value::Null => drop(node.remove(keyword)),
            value => drop(node.insert(keyword.clone(), value.clone())),
        }
    }
}

/// Applies a JSON merge patch (RFC 7396).
pub(super) fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    let Value::Object(target) = target else { return };
    for (key, value) in patch {
        match value {
            Value::Null => drop(target.remove(key)),
            value => merge(target.entry(key.clone()).or_insert(Value::Null), value),
        }
    }
}

fn object(value: &Value) -> Option<Map<String, Value>> {
    match value {
        Value::String(text) => serde_json::from_str(text).ok(),
        value => value.as_object().cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply_override(schema: &Value, path: &str, value: Value) -> Result<Value, Diagnostics> {
        let (mut schema, mut errors) = (schema.clone(), Diagnostics::default());
        let marks = Extensions::from([(Extension::Override, [(path.to_owned(), value)].into())]);
        drop(apply(&mut schema, &marks, &RustItem::from("my_types::v1::Widget"), &mut errors));
        errors.or(schema)
    }

    #[test]
    fn keywords_are_replaced_and_removed() {
        let schema = json!({"properties": {"a": {"type": "string", "items": {"minLength": 1}}}});
        let overrides = json!({"": {"type": "array", "title": "A"}, "/items": {"minLength": null}});
        let expected = json!({"properties": {"a": {"type": "array", "title": "A", "items": {}}}});
        assert_eq!(apply_override(&schema, ".a", overrides.clone()).unwrap(), expected);
        assert_eq!(apply_override(&schema, ".a", json!(overrides.to_string())).unwrap(), expected);
    }

    #[test]
    fn overrides_without_a_schema_are_errors() {
        let error = apply_override(&json!({}), "", json!({"/properties/a": {}})).unwrap_err().to_string();
        assert_eq!(error, "`my_types::v1::Widget`: `x-kubewright-override`: there is no schema at `/properties/a`");
        let error = apply_override(&json!({}), ".a", json!({"version": {}})).unwrap_err().to_string();
        assert!(error.ends_with("there is no schema at `version`"), "only kinds have patches: {error}");
        let error = apply_override(&json!({}), "", json!({"version": 1})).unwrap_err().to_string();
        assert_eq!(error, "`my_types::v1::Widget`: `version` of `x-kubewright-override` is not an object");
        let error = apply_override(&json!({}), "", json!("{")).unwrap_err().to_string();
        assert_eq!(error, "`my_types::v1::Widget`: `x-kubewright-override` is not an object");
    }

    #[test]
    fn patches_are_merged() {
        let mut target = json!({"a": {"b": 1, "c": 2}, "d": [1]});
        merge(&mut target, &json!({"a": {"b": null, "e": {"f": 3}}, "d": [2]}));
        assert_eq!(target, json!({"a": {"c": 2, "e": {"f": 3}}, "d": [2]}));
    }
}
