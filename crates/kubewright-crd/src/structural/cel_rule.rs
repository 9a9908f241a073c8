//! Generated CEL rules.

use serde_json::{Value, json};

use super::{Node, RULES};

/// Returns a CEL string literal.
pub(super) fn string(text: &str) -> String {
    let mut quoted = String::from("'");
    for c in text.chars() {
        match c {
            '\\' => quoted.push_str(r"\\"),
            '\'' => quoted.push_str(r"\'"),
            '\n' => quoted.push_str(r"\n"),
            '\r' => quoted.push_str(r"\r"),
            '\t' => quoted.push_str(r"\t"),
            c => quoted.push(c),
        }
    }
    quoted + "'"
}

/// Returns the CEL literal of a scalar.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(value) => Some(string(value)),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    }
}

/// Adds a rule, unless the node has it already.
pub(super) fn add(node: &mut Node, rule: &str, message: &str) {
    let rule = json!({"rule": rule, "message": message.replace('\n', " ")});
    if let Value::Array(rules) = node.entry(RULES).or_insert_with(|| json!([]))
        && !rules.contains(&rule)
    {
        rules.push(rule);
    }
}
