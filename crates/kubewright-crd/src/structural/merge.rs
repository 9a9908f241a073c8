//! Merges keywords of a node: constraints are intersected, and for annotations those of the field have precedence.

use kubewright_names::extension::Extension;
use serde_json::{Map, Value, json};

use super::{LIST_KEYS, LIST_TYPE, MAP_TYPE, Node, PRESERVE, RULES, cel_rule, flattened::Flattened, number};

impl Flattened {
    /// Merges keywords.
    pub(super) fn merge_all(&mut self, mut more: Node) {
        for (bound, exclusive, is_minimum) in
            [("minimum", "exclusiveMinimum", true), ("maximum", "exclusiveMaximum", false)]
        {
            let is_exclusive = more.remove(exclusive) == Some(json!(true));
            if let Some(limit) = more.remove(bound) {
                number::merge_bound(&mut self.node, bound, exclusive, (&limit, is_exclusive), is_minimum);
            }
        }
        for (key, value) in more {
            self.merge(&key, value);
        }
    }

    /// Merges a keyword.
    pub(super) fn merge(&mut self, key: &str, value: Value) {
        let Some(existing) = self.node.get_mut(key) else {
            self.node.insert(key.to_owned(), value);
            return;
        };
        match (key, existing, value) {
            ("description" | "default" | "title" | "example" | "externalDocs", existing, value) => *existing = value,
            (RULES, Value::Array(existing), Value::Array(more)) => {
                existing.extend(more.into_iter().filter(|rule| !rule.is_null()));
                let mut seen = Vec::new();
                existing.retain(|rule| {
                    !seen.contains(rule) && {
                        seen.push(rule.clone());
                        true
                    }
                });
            }
            (_, existing, value) if *existing == value => {}
            ("properties", Value::Object(existing), Value::Object(more)) => {
                if let Err(message) = merge_properties(existing, more) {
                    self.push_error(message);
                }
            }
            ("required", Value::Array(existing), Value::Array(more)) => {
                let new: Vec<Value> = more.into_iter().filter(|name| !existing.contains(name)).collect();
                existing.extend(new);
            }
            ("items" | "additionalProperties", existing, value) => *existing = all_of(existing.take(), value),
            ("minLength" | "minItems" | "minProperties", existing, value) => {
                if as_float(existing) < as_float(&value) {
                    *existing = value;
                }
            }
            ("maxLength" | "maxItems" | "maxProperties", existing, value) => {
                if as_float(existing) > as_float(&value) {
                    *existing = value;
                }
            }
            ("enum", Value::Array(existing), Value::Array(more)) => {
                if let Err(message) = intersect_enums(existing, more) {
                    self.push_error(message);
                }
            }
            ("pattern", _, Value::String(pattern)) => {
                let rule = format!("self.matches({})", cel_rule::string(&pattern));
                cel_rule::add(&mut self.node, &rule, &format!("must match {pattern}"));
            }
            ("type", existing, value) => {
                let existing = existing.clone();
                self.merge_types(&existing, &value);
            }
            ("format" | "multipleOf", existing, value) if is_narrower(existing, &value) => {}
            ("format" | "multipleOf", existing, value) if is_narrower(&value, existing) => *existing = value,
            (PRESERVE | "nullable" | "x-kubernetes-embedded-resource" | "x-kubernetes-int-or-string", existing, _) => {
                *existing = json!(true)
            }
            (key, _, value) => self.conflict(key, &value),
        }
    }

    /// Merges types: an integer is a number, too.
    fn merge_types(&mut self, existing: &Value, value: &Value) {
        match (existing.as_str(), value.as_str()) {
            (Some("number"), Some("integer")) => drop(self.node.insert("type".to_owned(), value.clone())),
            (Some("integer"), Some("number")) => {}
            _ => self.conflict("type", value),
        }
    }

    fn conflict(&mut self, key: &str, value: &Value) {
        let existing = self.node.get(key).cloned().unwrap_or_default();
        let remedy = match key {
            LIST_TYPE | MAP_TYPE | LIST_KEYS => "a field has one merge strategy; specify it once",
            _ => "specify it once",
        };
        self.push_error(format!("`{key}` is {existing} for its type and {value} for its field; {remedy}"));
    }
}

/// Keeps the enum values that both allow.
fn intersect_enums(existing: &mut Vec<Value>, more: Vec<Value>) -> Result<(), String> {
    let common: Vec<Value> = existing.iter().filter(|value| more.contains(value)).cloned().collect();
    if common.is_empty() {
        let (existing, more) = (Value::Array(std::mem::take(existing)), Value::Array(more));
        return Err(format!("its type allows {existing} and its field {more}, which do not overlap; correct one"));
    }
    *existing = common;
    Ok(())
}

/// Whether a format or a multiple is at least as strict as another.
fn is_narrower(left: &Value, right: &Value) -> bool {
    match (left.as_str(), right.as_str(), left.as_u64(), right.as_u64()) {
        (Some("int32"), Some("int64"), ..) | (Some("float"), Some("double"), ..) => true,
        (_, _, Some(left), Some(right)) => right > 0 && left % right == 0,
        _ => false,
    }
}

fn as_float(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

/// Merges the fields of flattened types, or of a type with constraints of its fields.
fn merge_properties(existing: &mut Map<String, Value>, more: Map<String, Value>) -> Result<(), String> {
    let mut clash = Ok(());
    for (name, schema) in more {
        match existing.get_mut(&name) {
            None => drop(existing.insert(name, schema)),
            Some(existing) if are_two_fields(existing, &schema) => clash = Err(encoded_twice(&name)),
            Some(existing) if without_annotations(existing) == without_annotations(&schema) => {}
            Some(existing) if is_constraint(existing) || is_constraint(&schema) => {
                *existing = all_of(existing.take(), schema)
            }
            Some(_) => clash = Err(encoded_twice(&name)),
        }
    }
    clash
}

/// Whether two properties are those of two Rust fields.
fn are_two_fields(left: &Value, right: &Value) -> bool {
    let location = Extension::Location.name();
    matches!((left.get(location), right.get(location)), (Some(left), Some(right)) if left != right)
}

fn encoded_twice(name: &str) -> String {
    format!("two fields have the JSON name `{name}`, so that it is encoded twice and cannot be decoded; rename one")
}

/// Whether a schema does not specify what its values are.
fn is_constraint(schema: &Value) -> bool {
    let keywords =
        ["type", "$ref", "anyOf", "oneOf", "allOf", "properties", "items", "additionalProperties", "enum", "const"];
    schema.as_object().is_some_and(|schema| keywords.iter().all(|key| !schema.contains_key(*key)))
}

/// Returns a schema without its documentation and its Rust names.
pub(super) fn without_annotations(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(schema) = &mut schema {
        schema.retain(|key, _| !["description", "title"].contains(&key.as_str()) && !key.starts_with("x-rust-"));
    }
    schema
}

fn all_of(existing: Value, more: Value) -> Value {
    match (existing, more) {
        (Value::Bool(true), more) => more,
        (existing, Value::Bool(true)) => existing,
        (existing, more) => json!({"allOf": [existing, more]}),
    }
}
