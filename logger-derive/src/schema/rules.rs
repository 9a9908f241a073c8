//! CEL rules that keys of `#[schema(..)]` stand for: what the keywords of a schema cannot express.

use kubewright_names::cel::escape;
use syn::{Ident, LitStr};

use super::emit::Json;
use crate::attr::schema::{Bounds, EachKey, Names, Number, Scalar, SchemaAttr, Unique, Validation};

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
        let mut fields = vec![("message", Json::Text(self.message)), ("rule", Json::Text(self.rule))];
        fields.extend(self.reason.map(|reason| ("reason", Json::Text(reason.to_owned()))));
        Json::Object(fields)
    }
}

impl SchemaAttr {
    /// Returns the CEL rules: the user's, and those of other keys.
    pub(super) fn rules(&self) -> Vec<Json> {
        let own = self.validation.iter().map(Validation::json);
        own.chain(self.value_rules().into_iter().chain(self.update_rules()).map(Rule::json)).collect()
    }

    /// Returns the value of `max_bytes`.
    pub(super) fn max_bytes(&self) -> Option<u32> {
        self.max_bytes.as_ref().and_then(|count| count.base10_parse().ok())
    }

    fn value_rules(&self) -> Vec<Rule> {
        let mut rules = Vec::new();
        // The rule of a field is evaluated only if the field is set.
        let forbidden = || Rule::new("false", "it must not be set").reason("FieldValueForbidden");
        rules.extend(self.forbidden.is_present().then(forbidden));
        rules.extend(self.neq.as_ref().map(Scalar::cel).map(|value| {
            let message = format!("it must not be {value}");
            Rule::new(format!("self != {value}"), message)
        }));
        rules.extend(self.max_bytes().map(|count| {
            let message = format!("it must have at most {count} bytes");
            Rule::new(format!("bytes(self).size() <= {count}"), message)
        }));
        rules.extend(self.unique.as_ref().map(Unique::rule));
        rules.extend(self.each_key.iter().flat_map(EachKey::rules));
        rules
    }

    /// Returns the rules that compare a value with the old one. The enclosing object has those for values that are set
    /// or unset.
    fn update_rules(&self) -> Vec<Rule> {
        let mut rules = Vec::new();
        rules.extend(self.immutable.is_present().then(|| Rule::new("self == oldSelf", "it is immutable")));
        rules.extend(self.monotonic.is_present().then(|| Rule::new("self >= oldSelf", "it must not decrease")));
        let updates = self.update.iter().flat_map(|Names(names, _)| names).map(Ident::to_string);
        rules.extend(updates.filter_map(|update| match update.as_str() {
            "no_modify" => Some(Rule::new("self == oldSelf", "it must not be modified")),
            "no_add_item" => Some(Rule::new(self.contains("self", "oldSelf"), "no item may be added")),
            "no_remove_item" => Some(Rule::new(self.contains("oldSelf", "self"), "no item may be removed")),
            _ => None,
        }));
        rules
    }

    /// Returns a rule that each item or key of a value is in another one.
    fn contains(&self, all: &str, other: &str) -> String {
        match self.list_map_keys.as_slice() {
            [] => format!("{all}.all(item, item in {other})"),
            keys => format!("{all}.all(item, {other}.exists(other, {}))", same_keys(keys)),
        }
    }
}

impl Unique {
    fn rule(&self) -> Rule {
        let (same, message) = match self.0.as_slice() {
            [] => ("other == item".to_owned(), "its items must be unique".to_owned()),
            keys => {
                let names: Vec<String> = keys.iter().map(LitStr::value).collect();
                (same_keys(keys), format!("its items must have a unique {}", names.join(" and ")))
            }
        };
        // The API server shows no message with the reason `FieldValueDuplicate`.
        Rule::new(format!("self.all(item, self.exists_one(other, {same}))"), message)
    }
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

impl EachKey {
    fn rules(&self) -> Vec<Rule> {
        let of_all = |condition: String, message: String| Rule::new(format!("self.all(key, {condition})"), message);
        let mut rules = Vec::new();
        if let Some(Bounds { min, max }) = &self.length {
            let min_rule =
                |min| (format!("key.size() >= {min}"), format!("each key must have at least {min} characters"));
            let max_rule =
                |max| (format!("key.size() <= {max}"), format!("each key must have at most {max} characters"));
            let bounds = min.map(min_rule).into_iter().chain(max.map(max_rule));
            rules.extend(bounds.map(|(condition, message)| of_all(condition, message)));
        }
        if let Some(pattern) = &self.pattern {
            let message = format!("each key must match {}", pattern.value().replace('\n', " "));
            rules.push(of_all(format!("key.matches({})", string(&pattern.value())), message));
        }
        if let Some(values) = &self.values {
            let values: Vec<String> = values.0.iter().map(Scalar::cel).collect();
            let values = values.join(", ");
            rules.push(of_all(format!("key in [{values}]"), format!("each key must be one of {values}")));
        }
        rules
    }
}

impl Scalar {
    fn cel(&self) -> String {
        match self {
            Scalar::Text(value) => string(&value.value()),
            Scalar::Boolean(value) => value.to_string(),
            Scalar::Number(Number { integer: Some(integer), .. }) => integer.to_string(),
            Scalar::Number(Number { value, .. }) => format!("{value:?}"),
        }
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
