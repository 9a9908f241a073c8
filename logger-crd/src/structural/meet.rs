//! Two things said of one node: both count, and where only one can, the field's counts over the type's.

use serde_json::{Map, Value, json};

use super::gather::Said;
use super::{LIST_KEYS, LIST_TYPE, MAP_TYPE, Node, PRESERVE, RULES, cel, number};

impl Said {
    /// Adds keywords to those that are there.
    pub(super) fn meet_all(&mut self, mut more: Node) {
        for (bound, exclusive, least) in [("minimum", "exclusiveMinimum", true), ("maximum", "exclusiveMaximum", false)]
        {
            let strict = more.remove(exclusive) == Some(json!(true));
            if let Some(limit) = more.remove(bound) {
                number::meet_bound(&mut self.node, bound, exclusive, (&limit, strict), least);
            }
        }
        for (key, value) in more {
            self.meet(&key, value);
        }
    }

    /// Adds one keyword.
    pub(super) fn meet(&mut self, key: &str, value: Value) {
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
                if let Err(message) = properties(own, more) {
                    self.problem(message);
                }
            }
            ("required", Value::Array(own), Value::Array(more)) => {
                let new: Vec<Value> = more.into_iter().filter(|name| !own.contains(name)).collect();
                own.extend(new);
            }
            ("items" | "additionalProperties", own, value) => *own = both(own.take(), value),
            ("minLength" | "minItems" | "minProperties", own, value) => {
                if number(own) < number(&value) {
                    *own = value;
                }
            }
            ("maxLength" | "maxItems" | "maxProperties", own, value) => {
                if number(own) > number(&value) {
                    *own = value;
                }
            }
            ("enum", Value::Array(own), Value::Array(more)) => {
                if let Err(message) = common(own, more) {
                    self.problem(message);
                }
            }
            ("pattern", _, Value::String(pattern)) => {
                let rule = format!("self.matches({})", cel::text(&pattern));
                cel::add(&mut self.node, &rule, &format!("must match {pattern}"));
            }
            ("type", own, value) => {
                let own = own.clone();
                self.types(&own, &value);
            }
            ("format" | "multipleOf", own, value) if is_narrower(own, &value) => {}
            ("format" | "multipleOf", own, value) if is_narrower(&value, own) => *own = value,
            (PRESERVE | "nullable" | "x-kubernetes-embedded-resource" | "x-kubernetes-int-or-string", own, _) => {
                *own = json!(true)
            }
            (key, _, value) => self.differ(key, &value),
        }
    }

    /// An integer is a number.
    fn types(&mut self, own: &Value, value: &Value) {
        match (own.as_str(), value.as_str()) {
            (Some("number"), Some("integer")) => drop(self.node.insert("type".to_owned(), value.clone())),
            (Some("integer"), Some("number")) => {}
            _ => self.differ("type", value),
        }
    }

    fn differ(&mut self, key: &str, value: &Value) {
        let own = self.node.get(key).cloned().unwrap_or_default();
        let remedy = match key {
            LIST_TYPE | MAP_TYPE | LIST_KEYS => "merging has one rule for a field; say it in one place",
            _ => "say it in one place",
        };
        self.problem(format!("`{key}` is {own} for its type and {value} for its field; {remedy}"));
    }
}

/// Words that both allow.
fn common(own: &mut Vec<Value>, more: Vec<Value>) -> Result<(), String> {
    let common: Vec<Value> = own.iter().filter(|value| more.contains(value)).cloned().collect();
    if common.is_empty() {
        let (own, more) = (Value::Array(std::mem::take(own)), Value::Array(more));
        return Err(format!("its type allows {own} and its field {more}, which have nothing in common; correct one"));
    }
    *own = common;
    Ok(())
}

/// Whether all values of one format, or all multiples of one number, are also of another.
fn is_narrower(one: &Value, other: &Value) -> bool {
    match (one.as_str(), other.as_str(), one.as_u64(), other.as_u64()) {
        (Some("int32"), Some("int64"), ..) | (Some("float"), Some("double"), ..) => true,
        (_, _, Some(one), Some(other)) => other > 0 && one % other == 0,
        _ => false,
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

/// Fields of flattened types, or of a type and facts about its fields.
fn properties(own: &mut Map<String, Value>, more: Map<String, Value>) -> Result<(), String> {
    let mut clash = Ok(());
    for (name, schema) in more {
        match own.get_mut(&name) {
            None => drop(own.insert(name, schema)),
            Some(own) if plain(own) == plain(&schema) => {}
            Some(own) if is_fact(own) || is_fact(&schema) => *own = both(own.take(), schema),
            Some(_) => clash = Err(format!("two flattened types have a field `{name}`; rename one")),
        }
    }
    clash
}

/// A schema that says of no value what it is.
fn is_fact(schema: &Value) -> bool {
    let says =
        ["type", "$ref", "anyOf", "oneOf", "allOf", "properties", "items", "additionalProperties", "enum", "const"];
    schema.as_object().is_some_and(|schema| says.iter().all(|key| !schema.contains_key(*key)))
}

/// A schema without what is said about it: its docs and its names.
pub(super) fn plain(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(schema) = &mut schema {
        schema.retain(|key, _| !["description", "title"].contains(&key.as_str()) && !key.starts_with("x-rust-"));
    }
    schema
}

fn both(own: Value, more: Value) -> Value {
    match (own, more) {
        (Value::Bool(true), more) => more,
        (own, Value::Bool(true)) => own,
        (own, more) => json!({"allOf": [own, more]}),
    }
}
