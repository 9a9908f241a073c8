//! Changes of CEL rules and logical junctors.

use serde_json::{Map, Value, json};

use super::{
    Changes,
    Class::{Safe, Tightening},
    Pair, same,
};

pub(super) fn compare(pair: Pair<'_>, path: &str, changes: &mut Changes<'_>) {
    expressions(pair, path, changes);
    for name in ["allOf", "anyOf", "oneOf"] {
        branches(name, list(pair.old, name), list(pair.new, name), path, changes);
    }
    let (class, what) = match pair.get("not") {
        _ if pair.same("not") => return,
        (_, None) => (Safe, "excluded values are accepted"),
        _ => (Tightening, "values that match this schema are rejected"),
    };
    changes.push(class, path, what, pair.old.get("not"), pair.new.get("not"));
}

/// Compares rules, which are identified by their expression.
fn expressions(pair: Pair<'_>, path: &str, changes: &mut Changes<'_>) {
    let rules = |schema| list(schema, "x-kubernetes-validations");
    let expression = |rule: &Value| rule["rule"].as_str().unwrap_or_default().trim().to_owned();
    let (old, new) = (rules(pair.old), rules(pair.new));
    for rule in &new {
        match old.iter().find(|old| expression(old) == expression(rule)) {
            None => {
                let what = "values that violate this rule are rejected";
                changes.push_text(Tightening, path, what, None, Some(expression(rule)));
            }
            Some(old) if rule["optionalOldSelf"] == json!(true) && old["optionalOldSelf"] != json!(true) => {
                let what = "the rule is also evaluated on create";
                changes.push_text(Tightening, path, what, None, Some(expression(rule)));
            }
            Some(old) if old != rule => {
                let what = "the rule has another message, or is evaluated for fewer requests";
                changes.push_text(Safe, path, what, None, Some(expression(rule)));
            }
            Some(_) => {}
        }
    }
    for rule in old.iter().filter(|old| !new.iter().any(|new| expression(new) == expression(old))) {
        changes.push_text(Safe, path, "values that violate this rule are accepted", Some(expression(rule)), None);
    }
}

fn branches(name: &str, old: Vec<Value>, new: Vec<Value>, path: &str, changes: &mut Changes<'_>) {
    let contains = |all: &[Value], branch: &Value| all.iter().any(|other| same(other, branch));
    let added = new.iter().any(|branch| !contains(&old, branch));
    let removed = old.iter().any(|branch| !contains(&new, branch));
    let is_one_of_changed = name == "oneOf" && old.len() != new.len();
    let is_stricter = match name {
        _ if !added && !removed && !is_one_of_changed => return,
        _ if new.is_empty() => false,
        _ if old.is_empty() => true,
        "allOf" => added,
        "anyOf" => removed,
        _ => true,
    };
    let (class, what) = match is_stricter {
        true => (Tightening, format!("values that do not match `{name}` are rejected")),
        false => (Safe, format!("`{name}` is less strict")),
    };
    let value = |branches: Vec<Value>| (!branches.is_empty()).then_some(Value::Array(branches));
    changes.push(class, path, what, value(old).as_ref(), value(new).as_ref());
}

/// Returns a list of schemas or rules, without the int-or-string pattern.
fn list(schema: &Map<String, Value>, name: &str) -> Vec<Value> {
    let int_or_string_types = [json!({"type": "integer"}), json!({"type": "string"})];
    let is_int_or_string_pattern = |branches: &[Value]| branches == int_or_string_types;
    let int_or_string = schema.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true));
    let mut branches = schema.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    if int_or_string && name == "anyOf" && is_int_or_string_pattern(&branches) {
        branches.clear();
    }
    if int_or_string && name == "allOf" {
        branches.retain(|branch| !branch["anyOf"].as_array().is_some_and(|inner| is_int_or_string_pattern(inner)));
    }
    branches
}
