//! Generated rules for map keys and for dependent fields, which no keyword of a structural schema supports.

use kubewright_names::extension::Extension;
use serde_json::Value;

use super::{Node, cel_rule, flattened::Flattened, strings};

pub(super) const COST: &str = "a CEL rule validates its keys, which is too expensive in a list or map without a \
                               maximum size; set the maximum number of items and properties of each, or use \
                               `BTreeMap<String, _>`";

/// Converts `patternProperties`, such as the schema of a map with numeric keys: a rule validates the keys.
pub(super) fn pattern_properties(patterns: &Value, keywords: &mut Node, flattened: &mut Flattened) {
    let mut patterns = patterns.as_object().into_iter().flatten();
    match (patterns.next(), patterns.next()) {
        (Some((pattern, values)), None) => {
            keywords.insert("additionalProperties".to_owned(), values.clone());
            add_key_pattern(pattern, flattened);
        }
        (None, _) => {}
        _ => {
            flattened.push_error("map keys with several patterns have no structural schema; use `BTreeMap<String, _>`")
        }
    }
}

/// Converts `propertyNames`.
pub(super) fn property_names(keys: &Value, flattened: &mut Flattened) {
    let values = keys.get("enum").and_then(Value::as_array);
    if let Some(pattern) = keys.get("pattern").and_then(Value::as_str) {
        add_key_pattern(pattern, flattened);
    }
    if let Some(values) = values {
        let list = Value::Array(values.clone());
        let quoted: Vec<String> = values.iter().filter_map(cel_rule::scalar).collect();
        let rule = format!("self.all(key, key in [{}])", quoted.join(", "));
        cel_rule::add(&mut flattened.node, &rule, &format!("each key must be one of {list}"));
    }
    let known = ["enum", "pattern", "type", "description", "title"];
    if let Some(key) =
        keys.as_object().into_iter().flatten().map(|(key, _)| key).find(|key| !known.contains(&key.as_str()))
    {
        flattened.push_error(format!("`{key}` of map keys has no structural schema; use a pattern, or a CEL rule"));
    }
}

fn add_key_pattern(pattern: &str, flattened: &mut Flattened) {
    let rule = format!("self.all(key, key.matches({}))", cel_rule::string(pattern));
    cel_rule::add(&mut flattened.node, &rule, &format!("each key must match {pattern}"));
    flattened.extensions.insert(Extension::KeyRule, Value::Bool(true));
}

/// Converts `dependentRequired`.
pub(super) fn dependent_required(fields: &Value, flattened: &mut Flattened) {
    for (field, needs) in fields.as_object().into_iter().flatten() {
        for need in strings(Some(needs)) {
            let (Some(has), Some(needed)) = (crate::cel::escape(field), crate::cel::escape(need)) else {
                return flattened
                    .push_error(format!("CEL cannot access the fields `{field}` and `{need}`; rename them"));
            };
            let rule = format!("!has(self.{has}) || has(self.{needed})");
            cel_rule::add(&mut flattened.node, &rule, &format!("{need} is required beside {field}"));
        }
    }
}
