//! The corpus of rules and the answers recorded for them, for the tests that compare and the one that asks the server.

#![allow(clippy::panic)] // A corpus that cannot be read is a broken test.

use std::{fs, path::PathBuf};

use serde_json::{Map, Value, json};

/// The files with rules; each has its answers beside it.
pub(crate) const FILES: [&str; 9] =
    ["types", "escapes", "syntax", "macros", "optional", "library", "messages", "places", "cost"];

/// The file with rules that are run.
pub(crate) const RUNS: &str = "eval";

/// One thing the server says is wrong: field, reason, message. Where it names the schema, `$` stands for it.
pub(crate) type Cause = (String, String, String);

/// A schema of a definition.
pub(crate) struct Case {
    /// As it is in the file.
    pub(crate) written: Value,
    pub(crate) schema: Value,
}

/// Rules on a schema, and what they are run on.
pub(crate) struct Group {
    /// The schema with its rules.
    pub(crate) schema: Value,
    pub(crate) runs: Vec<Run>,
}

/// A value, and what it replaces.
pub(crate) struct Run {
    pub(crate) new: Value,
    pub(crate) old: Option<Value>,
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus/cel").join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(file(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn yaml(name: &str) -> Value {
    let name = format!("{name}.yaml");
    serde_saphyr::from_str(&text(&name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What the server says of each case or run of a file.
pub(crate) fn answers(name: &str) -> Vec<Vec<Cause>> {
    let name = format!("{name}.answers.json");
    serde_json::from_str(&text(&name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The cases of a file.
pub(crate) fn cases(name: &str) -> Vec<Case> {
    let base = yaml("base");
    let Value::Array(cases) = yaml(name) else { panic!("{name} is a list of cases") };
    cases.into_iter().map(|written| Case { schema: expand(&written, &base), written }).collect()
}

/// The groups of rules that are run.
pub(crate) fn groups() -> Vec<Group> {
    let base = yaml("base");
    let Value::Array(groups) = yaml(RUNS) else { panic!("{RUNS} is a list of groups") };
    let run = |run: &Value| Run { new: run["new"].clone(), old: run.get("old").cloned() };
    groups
        .iter()
        .map(|group| {
            let runs = group["runs"].as_array().expect("a group has runs").iter().map(run).collect();
            Group { schema: with_rules(group, &base), runs }
        })
        .collect()
}

/// A group's rules, and rules that fail to show the values of expressions.
fn with_rules(group: &Value, base: &Value) -> Value {
    let mut schema = group.get("schema").unwrap_or(base).clone();
    let rule = |rule: &Value| if rule.is_string() { json!({"rule": rule}) } else { rule.clone() };
    let shown = |expression: &Value| json!({"rule": "false", "messageExpression": expression});
    let list = |key: &str| group.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let rules: Vec<Value> = list("rules").iter().map(rule).chain(list("shows").iter().map(shown)).collect();
    if !rules.is_empty() {
        schema["x-kubernetes-validations"] = Value::from(rules);
    }
    schema
}

/// The schema of a case: a rule on the base schema (or its own, `times` over), a schema of `spec`, or of the root.
fn expand(case: &Value, base: &Value) -> Value {
    let mut case = match case {
        Value::String(rule) => Map::from_iter([("rule".to_owned(), json!(rule))]),
        Value::Object(case) => case.clone(),
        other => panic!("no case: {other}"),
    };
    if let Some(root) = case.remove("root") {
        return expand_root(root);
    }
    let times = case.remove("times");
    let mut spec = if case.contains_key("rule") {
        let mut spec = case.remove("schema").unwrap_or_else(|| base.clone());
        spec["x-kubernetes-validations"] = json!([case]);
        spec
    } else {
        Value::Object(case)
    };
    if let Some(times) = times {
        spec = json!({"type": "array", "maxItems": times, "items": spec});
    }
    json!({"type": "object", "properties": {"spec": spec}})
}

fn expand_root(mut given: Value) -> Value {
    let mut properties = json!({"spec": {"type": "object"}, "status": {"type": "object"}});
    for (name, property) in given["properties"].as_object().into_iter().flatten() {
        properties[name] = property.clone();
    }
    given["type"] = json!("object");
    given["properties"] = properties;
    given
}
