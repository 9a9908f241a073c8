//! CEL rules that keys of `#[schema(..)]` stand for: what the keywords of a schema cannot express.

use kubewright_names::cel::escape;
use syn::{Ident, LitStr};

use super::json::Json;
use crate::attr::schema::{Bounds, EachKey, Names, Number, Scalar, SchemaAttr, Unique};

/// A rule with its message, and with a reason other than `FieldValueInvalid`.
struct Rule {
    rule: String,
    message: String,
    reason: Option<&'static str>,
}

impl Rule {
    fn new(rule: impl Into<String>, message: impl Into<String>) -> Self {
        Rule { rule: rule.into(), message: message.into(), reason: None }
    }

    fn reason(self, reason: &'static str) -> Self {
        Rule { reason: Some(reason), ..self }
    }

    fn json(self) -> Json {
        let mut fields = vec![("message", Json::text(&self.message)), ("rule", Json::text(&self.rule))];
        fields.extend(self.reason.map(|reason| ("reason", Json::text(reason))));
        Json::object(&fields)
    }
}

/// Returns the CEL rules: the user's, and those of other keys.
pub(super) fn rules(attr: &SchemaAttr) -> Vec<Json> {
    let written = attr.validation.iter().map(Json::from);
    written.chain(value_rules(attr).into_iter().chain(update_rules(attr)).map(Rule::json)).collect()
}

/// Returns the value of `max_bytes`.
pub(super) fn max_bytes(attr: &SchemaAttr) -> Option<u32> {
    attr.max_bytes.as_ref().and_then(|count| count.base10_parse().ok())
}

fn value_rules(attr: &SchemaAttr) -> Vec<Rule> {
    let mut rules = Vec::new();
    // The rule of a field is evaluated only if the field is set.
    let forbidden = || Rule::new("false", "it must not be set").reason("FieldValueForbidden");
    rules.extend(attr.forbidden.is_present().then(forbidden));
    rules.extend(attr.neq.as_ref().map(cel).map(|value| {
        let message = format!("it must not be {value}");
        Rule::new(format!("self != {value}"), message)
    }));
    rules.extend(max_bytes(attr).map(|count| {
        let message = format!("it must have at most {count} bytes");
        Rule::new(format!("bytes(self).size() <= {count}"), message)
    }));
    rules.extend(attr.unique.as_ref().map(unique_rule));
    rules.extend(attr.each_key.iter().flat_map(key_rules));
    rules
}

/// Returns the rules that compare a value with the old one. The enclosing object has those for values that are set
/// or unset.
fn update_rules(attr: &SchemaAttr) -> Vec<Rule> {
    let mut rules = Vec::new();
    rules.extend(attr.immutable.is_present().then(|| Rule::new("self == oldSelf", "it is immutable")));
    rules.extend(attr.monotonic.is_present().then(|| Rule::new("self >= oldSelf", "it must not decrease")));
    let updates = attr.update.iter().flat_map(|Names(names, _)| names).map(Ident::to_string);
    rules.extend(updates.filter_map(|update| match update.as_str() {
        "no_modify" => Some(Rule::new("self == oldSelf", "it must not be modified")),
        "no_add_item" => Some(Rule::new(contains(attr, "self", "oldSelf"), "no item may be added")),
        "no_remove_item" => Some(Rule::new(contains(attr, "oldSelf", "self"), "no item may be removed")),
        _ => None,
    }));
    rules
}

/// Returns a rule that each item or key of a value is in another one.
fn contains(attr: &SchemaAttr, all: &str, other: &str) -> String {
    match attr.list_map_keys.as_slice() {
        [] => format!("{all}.all(item, item in {other})"),
        keys => format!("{all}.all(item, {other}.exists(other, {}))", same_keys(keys)),
    }
}

fn unique_rule(Unique(keys): &Unique) -> Rule {
    let (same, message) = match keys.as_slice() {
        [] => ("other == item".to_owned(), "its items must be unique".to_owned()),
        keys => {
            let names: Vec<String> = keys.iter().map(LitStr::value).collect();
            (same_keys(keys), format!("its items must have a unique {}", names.join(" and ")))
        }
    };
    // The API server shows no message with the reason `FieldValueDuplicate`.
    Rule::new(format!("self.all(item, self.exists_one(other, {same}))"), message)
}

/// Returns the condition that the variables `item` and `other` have the same keys.
fn same_keys(keys: &[LitStr]) -> String {
    let same = keys.iter().map(|key| {
        // The generator reports a name without an escape.
        let key = escape(&key.value()).unwrap_or_else(|| key.value());
        format!("other.{key} == item.{key}")
    });
    same.collect::<Vec<_>>().join(" && ")
}

fn key_rules(keys: &EachKey) -> Vec<Rule> {
    let all_keys = |condition: String, message: String| Rule::new(format!("self.all(key, {condition})"), message);
    let mut rules = Vec::new();
    if let Some(Bounds { min, max }) = &keys.length {
        let min_rule = |min| (format!("key.size() >= {min}"), format!("each key must have at least {min} characters"));
        let max_rule = |max| (format!("key.size() <= {max}"), format!("each key must have at most {max} characters"));
        let bounds = min.map(min_rule).into_iter().chain(max.map(max_rule));
        rules.extend(bounds.map(|(condition, message)| all_keys(condition, message)));
    }
    if let Some(pattern) = &keys.pattern {
        let message = format!("each key must match {}", pattern.value().replace('\n', " "));
        rules.push(all_keys(format!("key.matches({})", string(&pattern.value())), message));
    }
    if let Some(values) = &keys.values {
        let values: Vec<String> = values.0.iter().map(cel).collect();
        let values = values.join(", ");
        rules.push(all_keys(format!("key in [{values}]"), format!("each key must be one of {values}")));
    }
    rules
}

/// Returns a CEL literal.
fn cel(value: &Scalar) -> String {
    match value {
        Scalar::Text(value) => string(&value.value()),
        Scalar::Boolean(value) => value.to_string(),
        Scalar::Number(Number { integer: Some(integer), .. }) => integer.to_string(),
        Scalar::Number(Number { value, .. }) => format!("{value:?}"),
    }
}

/// Returns a CEL string literal.
fn string(text: &str) -> String {
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
