//! What is said of the keys of maps and of fields that need others: rules, since no keyword of the server says it.

use serde_json::Value;

use super::gather::Said;
use super::{Node, cel, strings};

/// The mark of a map whose keys a rule looks at.
pub(super) const RULE: &str = "x-logger-key-rule";
pub(super) const COST: &str = "its keys are checked by a rule, and in a list or a map the API server takes such a rule only if \
                               all of them have a bound; set the most items and fields each may have, or use \
                               `BTreeMap<String, _>`";

/// Keys of a map that are numbers, say: the values are as the schema says, a rule looks at the keys.
pub(super) fn keyed(patterns: &Value, own: &mut Node, said: &mut Said) {
    let mut patterns = patterns.as_object().into_iter().flatten();
    match (patterns.next(), patterns.next()) {
        (Some((pattern, values)), None) => {
            own.insert("additionalProperties".to_owned(), values.clone());
            key_matches(pattern, said);
        }
        (None, _) => {}
        _ => said.problem("map keys of several forms have no structural schema; use `BTreeMap<String, _>`"),
    }
}

/// What is said of the keys of a map.
pub(super) fn key_rule(keys: &Value, said: &mut Said) {
    let words = keys.get("enum").and_then(Value::as_array);
    if let Some(pattern) = keys.get("pattern").and_then(Value::as_str) {
        key_matches(pattern, said);
    }
    if let Some(words) = words {
        let list = Value::Array(words.clone());
        let quoted: Vec<String> = words.iter().filter_map(cel::scalar).collect();
        let rule = format!("self.all(key, key in [{}])", quoted.join(", "));
        cel::add(&mut said.node, &rule, &format!("each key must be one of {list}"));
    }
    let known = ["enum", "pattern", "type", "description", "title"];
    if let Some(key) =
        keys.as_object().into_iter().flatten().map(|(key, _)| key).find(|key| !known.contains(&key.as_str()))
    {
        said.problem(format!("`{key}` of map keys has no structural schema; use a pattern, or a rule in CEL"));
    }
}

fn key_matches(pattern: &str, said: &mut Said) {
    let rule = format!("self.all(key, key.matches({}))", cel::text(pattern));
    cel::add(&mut said.node, &rule, &format!("each key must match {pattern}"));
    said.marks.insert(RULE.to_owned(), Value::Bool(true));
}

/// Fields that need others.
pub(super) fn dependent(fields: &Value, said: &mut Said) {
    for (field, needs) in fields.as_object().into_iter().flatten() {
        for need in strings(Some(needs)) {
            let (Some(has), Some(needed)) = (crate::cel::escape(field), crate::cel::escape(need)) else {
                return said.problem(format!("no rule can name the fields `{field}` and `{need}`; rename them"));
            };
            let rule = format!("!has(self.{has}) || has(self.{needed})");
            cel::add(&mut said.node, &rule, &format!("{need} is required beside {field}"));
        }
    }
}
