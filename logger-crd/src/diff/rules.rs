//! What a schema asks beyond its type: CEL rules, and schemas of which all, some, one or none must hold.

use serde_json::{Map, Value, json};

use super::Class::{Safe, Tightening};
use super::{Found, Pair, same};

pub(super) fn compare(pair: Pair<'_>, path: &str, found: &mut Found<'_>) {
    expressions(pair, path, found);
    for name in ["allOf", "anyOf", "oneOf"] {
        branches(name, list(pair.old, name), list(pair.new, name), path, found);
    }
    let (class, what) = match pair.get("not") {
        _ if pair.same("not") => return,
        (_, None) => (Safe, "what was excluded is taken"),
        _ => (Tightening, "what this schema takes is refused"),
    };
    found.push(class, path, what, pair.old.get("not"), pair.new.get("not"));
}

/// A rule is known by its expression.
fn expressions(pair: Pair<'_>, path: &str, found: &mut Found<'_>) {
    let rules = |schema| list(schema, "x-kubernetes-validations");
    let expression = |rule: &Value| rule["rule"].as_str().unwrap_or_default().trim().to_owned();
    let (old, new) = (rules(pair.old), rules(pair.new));
    for rule in &new {
        match old.iter().find(|old| expression(old) == expression(rule)) {
            None => {
                let what = "what breaks this rule is refused";
                found.push_text(Tightening, path, what, None, Some(expression(rule)));
            }
            Some(old) if rule["optionalOldSelf"] == json!(true) && old["optionalOldSelf"] != json!(true) => {
                let what = "the rule holds when an object is made, too";
                found.push_text(Tightening, path, what, None, Some(expression(rule)));
            }
            Some(old) if old != rule => {
                let what = "the rule says otherwise what is wrong, or asks it of fewer requests";
                found.push_text(Safe, path, what, None, Some(expression(rule)));
            }
            Some(_) => {}
        }
    }
    for rule in old.iter().filter(|old| !new.iter().any(|new| expression(new) == expression(old))) {
        found.push_text(Safe, path, "what broke this rule is taken", Some(expression(rule)), None);
    }
}

fn branches(name: &str, old: Vec<Value>, new: Vec<Value>, path: &str, found: &mut Found<'_>) {
    let within = |all: &[Value], branch: &Value| all.iter().any(|other| same(other, branch));
    let added = new.iter().any(|branch| !within(&old, branch));
    let gone = old.iter().any(|branch| !within(&new, branch));
    let repeated = name == "oneOf" && old.len() != new.len();
    let refuses = match name {
        _ if !added && !gone && !repeated => return,
        _ if new.is_empty() => false,
        _ if old.is_empty() => true,
        "allOf" => added,
        "anyOf" => gone,
        _ => true,
    };
    let (class, what) = match refuses {
        true => (Tightening, format!("what does not fit `{name}` is refused")),
        false => (Safe, format!("`{name}` asks for less")),
    };
    let value = |branches: Vec<Value>| (!branches.is_empty()).then_some(Value::Array(branches));
    found.push(class, path, what, value(old).as_ref(), value(new).as_ref());
}

/// A list of schemas or rules; without what only spells out int-or-string.
fn list(schema: &Map<String, Value>, name: &str) -> Vec<Value> {
    let spelled_out = [json!({"type": "integer"}), json!({"type": "string"})];
    let is_spelled_out = |branches: &[Value]| branches == spelled_out;
    let int_or_string = schema.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true));
    let mut branches = schema.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    if int_or_string && name == "anyOf" && is_spelled_out(&branches) {
        branches.clear();
    }
    if int_or_string && name == "allOf" {
        branches.retain(|branch| !branch["anyOf"].as_array().is_some_and(|inner| is_spelled_out(inner)));
    }
    branches
}
