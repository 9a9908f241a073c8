//! The rules this pass writes in CEL: names and texts escaped as the API server reads them.

use serde_json::{Value, json};

use super::{Node, RULES};

/// Words of the language: a field of such a name is escaped. From the API server's `cel/escaping.go`.
const WORDS: &[&str] = &[
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// A field's name in a rule. `None` if the server gives rules no access to it.
pub(super) fn name(property: &str) -> Option<String> {
    if WORDS.contains(&property) {
        return Some(format!("__{property}__"));
    }
    let begins_well = property.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_plain = property.chars().all(|c| c.is_ascii_alphanumeric() || "_.-/".contains(c));
    let escaped = property.replace("__", "__underscores__").replace('.', "__dot__");
    (begins_well && is_plain).then(|| escaped.replace('-', "__dash__").replace('/', "__slash__"))
}

/// A text in a rule.
pub(super) fn text(text: &str) -> String {
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

/// A scalar in a rule.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(value) => Some(text(value)),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    }
}

/// Adds a rule, unless it is there.
pub(super) fn add(node: &mut Node, rule: &str, message: &str) {
    let rule = json!({"rule": rule, "message": message.replace('\n', " ")});
    if let Value::Array(rules) = node.entry(RULES).or_insert_with(|| json!([]))
        && !rules.contains(&rule)
    {
        rules.push(rule);
    }
}
