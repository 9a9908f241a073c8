//! The corpus of rules and the answers recorded for them.

use std::{fs, path::PathBuf};

use serde_json::{Map, Value, json};

/// The files with cases; each has its answers beside it.
pub const FILES: &[&str] =
    &["types", "escapes", "syntax", "macros", "optional", "library", "messages", "places", "cost"];

/// Rules the server judges otherwise, and why.
pub const KNOWN: &[(&str, &str)] = &[(
    "google.protobuf.Int64Value{value: 1} == 1",
    "messages of protocol buffers cannot be made here: no rule needs one, as all they wrap can be written plainly",
)];

/// One thing the server says is wrong.
#[derive(Debug)]
pub struct Cause {
    pub field: String,
    pub reason: String,
    pub message: String,
}

/// A definition's schema and what the server says of it.
pub struct Case {
    /// As it is in the file.
    pub written: Value,
    pub schema: Value,
    pub answer: Vec<Cause>,
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus/cel")
}

fn yaml(file: &str) -> Value {
    let path = directory().join(format!("{file}.yaml"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub fn read(file: &str) -> Vec<Case> {
    let base = yaml("base");
    let path = directory().join(format!("{file}.answers.json"));
    let answers = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let answers: Vec<Vec<(String, String, String)>> = serde_json::from_str(&answers).expect("answers are as recorded");
    let Value::Array(cases) = yaml(file) else { panic!("{file} is a list of cases") };
    assert_eq!(cases.len(), answers.len(), "{file}: each case has an answer; record them anew");
    let cause = |(field, reason, message)| Cause { field, reason, message };
    cases
        .into_iter()
        .zip(answers)
        .map(|(written, answer)| {
            let schema = expand(&written, &base);
            Case { written, schema, answer: answer.into_iter().map(cause).collect() }
        })
        .collect()
}

/// The schema of a case: a rule on the base schema (or its own, `times` over), a schema of `spec`, or of the root.
pub fn expand(case: &Value, base: &Value) -> Value {
    let mut case = match case {
        Value::String(rule) => Map::from_iter([("rule".to_owned(), json!(rule))]),
        Value::Object(case) => case.clone(),
        other => panic!("no case: {other}"),
    };
    let mut root = json!({"type": "object", "properties": {}});
    if let Some(Value::Object(mut given)) = case.remove("root") {
        root["properties"] = json!({"spec": {"type": "object"}, "status": {"type": "object"}});
        if let Some(Value::Object(properties)) = given.remove("properties") {
            root["properties"].as_object_mut().expect("it is one").extend(properties);
        }
        root.as_object_mut().expect("it is one").extend(given);
        return root;
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
    root["properties"]["spec"] = spec;
    root
}
