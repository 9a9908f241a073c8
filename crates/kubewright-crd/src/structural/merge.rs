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
        let Some(own) = self.node.get_mut(key) else {
            self.node.insert(key.to_owned(), value);
            return;
        };
        match (key, own, value) {
            ("description" | "default" | "title" | "example" | "externalDocs", own, value) => *own = value,
            (RULES, Value::Array(own), Value::Array(more)) => {
                own.extend(more.into_iter().filter(|rule| !rule.is_null()));
                let mut seen = Vec::new();
                own.retain(|rule| {
                    !seen.contains(rule) && {
                        seen.push(rule.clone());
                        true
                    }
                });
            }
            (_, own, value) if *own == value => {}
            ("properties", Value::Object(own), Value::Object(more)) => {
                if let Err(message) = merge_properties(own, more) {
                    self.push_error(message);
                }
            }
            ("required", Value::Array(own), Value::Array(more)) => {
                let new: Vec<Value> = more.into_iter().filter(|name| !own.contains(name)).collect();
                own.extend(new);
            }
            ("items" | "additionalProperties", own, value) => *own = all_of(own.take(), value),
            ("minLength" | "minItems" | "minProperties", own, value) => {
                if as_float(own) < as_float(&value) {
                    *own = value;
                }
            }
            ("maxLength" | "maxItems" | "maxProperties", own, value) => {
                if as_float(own) > as_float(&value) {
                    *own = value;
                }
            }
            ("enum", Value::Array(own), Value::Array(more)) => {
                if let Err(message) = intersect_enums(own, more) {
                    self.push_error(message);
                }
            }
            ("pattern", _, Value::String(pattern)) => {
                let rule = format!("self.matches({})", cel_rule::string(&pattern));
                cel_rule::add(&mut self.node, &rule, &format!("must match {pattern}"));
            }
            ("type", own, value) => {
                let own = own.clone();
                self.merge_types(&own, &value);
            }
            ("format" | "multipleOf", own, value) if is_narrower(own, &value) => {}
            ("format" | "multipleOf", own, value) if is_narrower(&value, own) => *own = value,
            (PRESERVE | "nullable" | "x-kubernetes-embedded-resource" | "x-kubernetes-int-or-string", own, _) => {
                *own = json!(true)
            }
            (key, _, value) => self.conflict(key, &value),
        }
    }

    /// Merges types: an integer is a number, too.
    fn merge_types(&mut self, own: &Value, value: &Value) {
        match (own.as_str(), value.as_str()) {
            (Some("number"), Some("integer")) => drop(self.node.insert("type".to_owned(), value.clone())),
            (Some("integer"), Some("number")) => {}
            _ => self.conflict("type", value),
        }
    }

    fn conflict(&mut self, key: &str, value: &Value) {
        let own = self.node.get(key).cloned().unwrap_or_default();
        let remedy = match key {
            LIST_TYPE | MAP_TYPE | LIST_KEYS => "a field has one merge strategy; specify it once",
            _ => "specify it once",
        };
        self.push_error(format!("`{key}` is {own} for its type and {value} for its field; {remedy}"));
    }
}

/// Keeps the enum values that both allow.
fn intersect_enums(own: &mut Vec<Value>, more: Vec<Value>) -> Result<(), String> {
    let common: Vec<Value> = own.iter().filter(|value| more.contains(value)).cloned().collect();
    if common.is_empty() {
        let (own, more) = (Value::Array(std::mem::take(own)), Value::Array(more));
        return Err(format!("its type allows {own} and its field {more}, which do not overlap; correct one"));
    }
    *own = common;
    Ok(())
}

/// Whether a format or a multiple is at least as strict as another.
fn is_narrower(one: &Value, other: &Value) -> bool {
    match (one.as_str(), other.as_str(), one.as_u64(), other.as_u64()) {
        (Some("int32"), Some("int64"), ..) | (Some("float"), Some("double"), ..) => true,
        (_, _, Some(one), Some(other)) => other > 0 && one % other == 0,
        _ => false,
    }
}

fn as_float(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

/// Merges the fields of flattened types, or of a type with constraints of its fields.
fn merge_properties(own: &mut Map<String, Value>, more: Map<String, Value>) -> Result<(), String> {
    let mut clash = Ok(());
    for (name, schema) in more {
        match own.get_mut(&name) {
            None => drop(own.insert(name, schema)),
            Some(own) if are_two_fields(own, &schema) => clash = Err(encoded_twice(&name)),
            Some(own) if without_annotations(own) == without_annotations(&schema) => {}
            Some(own) if is_constraint(own) || is_constraint(&schema) => *own = all_of(own.take(), schema),
            Some(_) => clash = Err(encoded_twice(&name)),
        }
    }
    clash
}

/// Whether two properties are those of two Rust fields.
fn are_two_fields(one: &Value, other: &Value) -> bool {
    let location = Extension::Location.name();
    matches!((one.get(location), other.get(location)), (Some(one), Some(other)) if one != other)
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

fn all_of(own: Value, more: Value) -> Value {
    match (own, more) {
        (Value::Bool(true), more) => more,
        (own, Value::Bool(true)) => own,
        (own, more) => json!({"allOf": [own, more]}),
    }
}
