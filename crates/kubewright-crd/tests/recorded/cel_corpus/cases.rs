//! The corpus of rules and the recorded answers of the server, for the comparing tests and for the one that records.

#![allow(clippy::panic)] // An unreadable corpus is a broken test.

use std::{fs, path::PathBuf};

use serde_json::{Map, Value, json};

/// The files with rules. Each has a file with the server's answers beside it.
pub(crate) const FILES: [&str; 9] =
    ["types", "escapes", "syntax", "macros", "optional", "library", "messages", "nested", "cost"];

/// The file with rules that run on values.
pub(crate) const RUNS: &str = "eval";

/// A cause in the server's `Status`: field, reason, message. `$` stands for the path of the schema.
pub(crate) type Cause = (String, String, String);

/// The schema of a CRD.
pub(crate) struct Case {
    /// The case as the file has it.
    pub(crate) written: Value,
    pub(crate) schema: Value,
}

/// Rules and the values that they run on.
pub(crate) struct Group {
    /// The schema with the rules.
    pub(crate) schema: Value,
    pub(crate) runs: Vec<Run>,
}

/// A value, and the one that it replaces.
pub(crate) struct Run {
    pub(crate) new: Value,
    pub(crate) old: Option<Value>,
}

fn file(name: &str) -> PathBuf {
    envtest::workspace_root().expect("tests run in a checkout").join("tests/corpus/cel").join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(file(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn yaml(name: &str) -> Value {
    let name = format!("{name}.yaml");
    serde_saphyr::from_str(&text(&name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The recorded causes for each case or run of a file.
pub(crate) fn answers(name: &str) -> Vec<Vec<Cause>> {
    let name = format!("{name}.answers.json");
    serde_json::from_str(&text(&name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The cases of a file.
pub(crate) fn cases(name: &str) -> Vec<Case> {
    let base = yaml("base");
    let Value::Array(cases) = yaml(name) else { panic!("{name} is not a list of cases") };
    cases.into_iter().map(|written| Case { schema: expand(&written, &base), written }).collect()
}

/// The groups of rules that run on values.
pub(crate) fn groups() -> Vec<Group> {
    let base = yaml("base");
    let Value::Array(groups) = yaml(RUNS) else { panic!("{RUNS} is not a list of groups") };
    let run = |run: &Value| Run { new: run["new"].clone(), old: run.get("old").cloned() };
    groups
        .iter()
        .map(|group| {
            let runs = group["runs"].as_array().expect("every group has runs").iter().map(run).collect();
            Group { schema: with_rules(group, &base), runs }
        })
        .collect()
}

/// Adds the rules of a group, and a failing rule for each expression whose value is to be shown as a message.
fn with_rules(group: &Value, base: &Value) -> Value {
    let mut schema = group.get("schema").unwrap_or(base).clone();
    let rule = |rule: &Value| if rule.is_string() { json!({"rule": rule}) } else { rule.clone() };
    let show = |expression: &Value| json!({"rule": "false", "messageExpression": expression});
    let list = |key: &str| group.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let rules: Vec<Value> = list("rules").iter().map(rule).chain(list("shows").iter().map(show)).collect();
    if !rules.is_empty() {
        schema["x-kubernetes-validations"] = Value::from(rules);
    }
    schema
}

/// The schema of a case, which is one of:
/// - a rule on the base schema or on a `schema`, in a list of `times` items if that is given;
/// - a schema of `spec`;
/// - a schema of the `root`.
fn expand(case: &Value, base: &Value) -> Value {
    let mut case = match case {
        Value::String(rule) => Map::from_iter([("rule".to_owned(), json!(rule))]),
        Value::Object(case) => case.clone(),
        other => panic!("not a case: {other}"),
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

fn expand_root(mut root: Value) -> Value {
    let mut properties = json!({"spec": {"type": "object"}, "status": {"type": "object"}});
    for (name, property) in root["properties"].as_object().into_iter().flatten() {
        properties[name] = property.clone();
    }
    root["type"] = json!("object");
    root["properties"] = properties;
    root
}
