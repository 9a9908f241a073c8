//! The rules of a value in words.

use serde_json::Value;

use super::text::{cell, code, codes};

/// Returns each rule of a schema, including those of the items of a list or the values of a map unless they are
/// objects, which have separate sections.
pub(super) fn describe(schema: &Value) -> Vec<String> {
    let mut rules = Vec::new();
    rules.extend(enumeration(schema));
    rules.extend(bounds(schema));
    if let Some(pattern) = schema["pattern"].as_str() {
        rules.push(format!("Matches {}", code(pattern)));
    }
    if let Some(number) = schema.get("multipleOf") {
        rules.push(format!("A multiple of {number}"));
    }
    if schema["nullable"] == true {
        rules.push("May be null".to_owned());
    }
    rules.extend(topology(schema).map(str::to_owned));
    if schema["x-kubernetes-preserve-unknown-fields"] == true {
        let rule = if schema["type"] == "object" { "Unknown fields are preserved" } else { "Preserved unchanged" };
        rules.push(rule.to_owned());
    }
    rules.extend(alternatives(schema));
    rules.extend(expressions(schema));
    for (name, each) in [("items", "Each item: "), ("additionalProperties", "Each value: ")] {
        let inner = schema.get(name).filter(|inner| inner.is_object() && inner.get("properties").is_none());
        let inner = inner.map(describe).unwrap_or_default();
        rules.extend((!inner.is_empty()).then(|| format!("{each}{}", inner.join("; "))));
    }
    rules
}

fn enumeration(schema: &Value) -> Option<String> {
    let values = schema["enum"].as_array()?;
    let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let shown: Vec<_> = values.iter().map(shown).collect();
    Some(format!("One of {}", codes(shown.iter().map(String::as_str))))
}

fn bounds(schema: &Value) -> Vec<String> {
    let is_exclusive = |name: &str| schema[name] == true;
    let number = |name: &str| schema.get(name).filter(|bound| bound.is_number());
    let mut rules = Vec::new();
    let numbers = match (number("minimum"), number("maximum")) {
        (Some(least), Some(most)) if !is_exclusive("exclusiveMinimum") && !is_exclusive("exclusiveMaximum") => {
            vec![format!("From {least} to {most}")]
        }
        (least, most) => {
            let least = least.map(|least| match is_exclusive("exclusiveMinimum") {
                true => format!("More than {least}"),
                false => format!("At least {least}"),
            });
            let most = most.map(|most| match is_exclusive("exclusiveMaximum") {
                true => format!("Less than {most}"),
                false => format!("At most {most}"),
            });
            least.into_iter().chain(most).collect()
        }
    };
    rules.extend(numbers);
    for (least, most, singular, plural) in [
        ("minLength", "maxLength", "character", "characters"),
        ("minItems", "maxItems", "item", "items"),
        ("minProperties", "maxProperties", "entry", "entries"),
    ] {
        let noun = |bound: &Value| if bound == 1 { singular } else { plural };
        rules.extend(match (number(least), number(most)) {
            (Some(least), Some(most)) if least == most => Some(format!("Exactly {most} {}", noun(most))),
            (Some(least), Some(most)) => Some(format!("{least} to {most} {}", noun(most))),
            (Some(least), None) => Some(format!("At least {least} {}", noun(least))),
            (None, Some(most)) => Some(format!("At most {most} {}", noun(most))),
            (None, None) => None,
        });
    }
    rules
}

fn topology(schema: &Value) -> Option<&'static str> {
    let word = |name: &str| schema[name].as_str();
    match (word("x-kubernetes-list-type"), word("x-kubernetes-map-type")) {
        (Some("atomic"), _) | (_, Some("atomic")) => Some("Atomic: server-side apply replaces it completely"),
        (Some("set"), _) => Some("Items are unique"),
        (Some("map"), _) => Some("Keys are unique"),
        _ => None,
    }
}

/// Returns groups of fields of which exactly or at least one is required. Of other alternatives, returns their number.
fn alternatives(schema: &Value) -> Vec<String> {
    let mut rules = Vec::new();
    for (name, words) in [("oneOf", "Exactly one of"), ("anyOf", "At least one of")] {
        let Some(branches) = schema[name].as_array().filter(|_| schema["x-kubernetes-int-or-string"] != true) else {
            continue;
        };
        let names: Option<Vec<&str>> = branches.iter().map(only_required).collect();
        rules.push(match names {
            Some(names) => format!("{words} {}", codes(names.into_iter())),
            None => format!("{words} {} alternatives, see `{name}` in the definition", branches.len()),
        });
    }
    rules
}

/// Returns the field that a branch requires, if that is its only rule.
fn only_required(branch: &Value) -> Option<&str> {
    let fields = branch.as_object().filter(|fields| fields.len() == 1)?;
    match fields.get("required")?.as_array()?.as_slice() {
        [Value::String(name)] => Some(name),
        _ => None,
    }
}

fn expressions(schema: &Value) -> Vec<String> {
    let rules = schema["x-kubernetes-validations"].as_array().into_iter().flatten();
    let describe = |rule: &Value| {
        let expression = rule["rule"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        match rule["message"].as_str() {
            Some(message) => format!("Rule: {} ({})", cell(message), code(&expression)),
            None => format!("Rule: {}", code(&expression)),
        }
    };
    rules.map(describe).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rules_are_described_in_words() {
        for (schema, expected) in [
            (json!({"minimum": 0}), &["At least 0"][..]),
            (json!({"minimum": 0, "maximum": 1.5}), &["From 0 to 1.5"]),
            (json!({"minimum": 0, "exclusiveMinimum": true, "maximum": 9}), &["More than 0", "At most 9"]),
            (json!({"minLength": 1, "maxLength": 63}), &["1 to 63 characters"]),
            (json!({"maxItems": 1}), &["At most 1 item"]),
            (json!({"minProperties": 2, "maxProperties": 2}), &["Exactly 2 entries"]),
            (json!({"enum": ["a", 1]}), &["One of `a`, `1`"]),
            (json!({"pattern": "^a|b$", "multipleOf": 5}), &["Matches `^a|b$`", "A multiple of 5"]),
            (json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}), &["Exactly one of `a`, `b`"]),
            (json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]}), &[]),
            (
                json!({"anyOf": [{"required": ["a", "b"]}, {}]}),
                &["At least one of 2 alternatives, see `anyOf` in the definition"],
            ),
            (
                json!({"x-kubernetes-validations": [{"rule": "self > 0 &&\n  self < 3", "message": "must be 1|2"}]}),
                &["Rule: must be 1|2 (`self > 0 && self < 3`)"],
            ),
            (
                json!({"x-kubernetes-list-type": "set", "items": {"type": "string", "maxLength": 3, "pattern": "a"}}),
                &["Items are unique", "Each item: At most 3 characters; Matches `a`"],
            ),
        ] {
            assert_eq!(describe(&schema), expected, "{schema}");
        }
    }
}
