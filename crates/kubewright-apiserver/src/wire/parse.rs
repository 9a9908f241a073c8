//! Parses JSON and YAML within limits. The last of several duplicate fields wins.

use std::fmt;

use serde::{
    Deserialize,
    de::{Deserializer, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};
use serde_saphyr::{Budget, Error as ParseError, Options, budget::BudgetBreach, options::DuplicateKeyPolicy};

use crate::{api::depth, wire::MAX_BODY_BYTES};

/// The maximum number of YAML nodes that aliases add: approximately that of Go's decoder (`allowedAliasRatio`).
const MAX_ALIASED_NODES: usize = 400_000;
/// The maximum size of all scalars of a YAML text with its aliases replaced. Text without aliases does not exceed it:
/// escape sequences decode to at most three bytes for two.
const MAX_SCALAR_BYTES: usize = 2 * MAX_BODY_BYTES;
/// The stack for YAML of the maximum depth, in bytes: without optimizations, a level needs 25 kB.
const YAML_STACK: usize = 8 << 20;

/// Parses JSON.
pub(crate) fn json(text: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(text).map(|Plain(value)| value)
}

/// The error for a YAML text that cannot be parsed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum YamlError {
    /// The aliases multiply the size of the text.
    #[error("yaml: document contains excessive aliasing")]
    ExcessiveAliasing,
    /// The text is too deep.
    #[error("yaml: exceeded max depth of {}", depth::MAX_DEPTH)]
    TooDeep,
    /// The syntax is invalid.
    #[error("{0}")]
    Syntax(String),
}

impl From<ParseError> for YamlError {
    fn from(error: ParseError) -> Self {
        match error.without_snippet() {
            ParseError::Budget { breach: BudgetBreach::Depth { .. }, .. } => Self::TooDeep,
            _ if is_excessive_aliasing(&error) => Self::ExcessiveAliasing,
            _ => Self::Syntax(error.to_string()),
        }
    }
}

fn is_excessive_aliasing(error: &ParseError) -> bool {
    match error.without_snippet() {
        ParseError::AliasError { error, .. } => is_excessive_aliasing(error),
        ParseError::Budget { breach, .. } => !matches!(breach, BudgetBreach::Depth { .. }),
        ParseError::AliasReplayLimitExceeded { .. } | ParseError::AliasReplayStackDepthExceeded { .. } => true,
        _ => false,
    }
}

/// Returns the limits for a text of this length. Apart from that of the depth, only anchors and aliases exceed them.
fn budget(length: usize) -> Budget {
    let mut budget = Budget::default();
    budget.max_depth = depth::MAX_DEPTH;
    budget.max_nodes = MAX_ALIASED_NODES.max(length);
    budget.max_events = 2 * budget.max_nodes;
    budget.max_total_scalar_bytes = MAX_SCALAR_BYTES;
    budget.max_aliases = budget.max_nodes;
    budget.max_anchors = budget.max_nodes;
    budget.max_recorded_anchor_events = budget.max_nodes;
    // Go has no limit for the number of aliases of an anchor.
    budget.enforce_alias_anchor_ratio = false;
    budget
}

/// Parses the first document of a YAML text; null without a document. Numbers of YAML 1.1 such as `010` are octal if
/// the option is set.
pub(crate) fn yaml(text: &[u8], legacy_octal_numbers: bool) -> Result<Value, YamlError> {
    stacker::maybe_grow(YAML_STACK, YAML_STACK, || parse_yaml(text, legacy_octal_numbers))
}

fn parse_yaml(text: &[u8], legacy_octal_numbers: bool) -> Result<Value, YamlError> {
    let mut options = Options::default();
    options.legacy_octal_numbers = legacy_octal_numbers;
    options.duplicate_keys = DuplicateKeyPolicy::LastWins;
    options.alias_limits.max_total_replayed_events = MAX_ALIASED_NODES;
    options.budget = Some(budget(text.len()));
    let mut text = text;
    let first = serde_saphyr::read_with_options::<_, Plain>(&mut text, options).next().transpose()?;
    Ok(first.map(|Plain(value)| value).unwrap_or_default())
}

/// A value. Unlike [`Value`] itself, it does not parse text in fields that have the name of `serde_json`'s raw values,
/// which the limits do not include.
struct Plain(Value);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PlainVisitor)
    }
}

struct PlainVisitor;

impl<'de> Visitor<'de> for PlainVisitor {
    type Value = Plain;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Plain, E> {
        Ok(Plain(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Plain, E> {
        Ok(Plain(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Plain, E> {
        Ok(Plain(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Plain, E> {
        Ok(Plain(Number::from_f64(value).map_or(Value::Null, Value::Number)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Plain, E> {
        Ok(Plain(value.into()))
    }

    fn visit_string<E>(self, value: String) -> Result<Plain, E> {
        Ok(Plain(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Plain, E> {
        Ok(Plain(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Plain, E> {
        Ok(Plain(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Plain, D::Error> {
        Plain::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Plain, A::Error> {
        let mut list = Vec::new();
        while let Some(Plain(item)) = items.next_element()? {
            list.push(item);
        }
        // The list may be stored.
        list.shrink_to_fit();
        Ok(Plain(Value::Array(list)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Plain, A::Error> {
        let mut map = Map::new();
        while let Some((name, Plain(value))) = fields.next_entry::<String, Plain>()? {
            map.insert(name, value);
        }
        Ok(Plain(Value::Object(map)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_duplicate_wins() {
        let text = br#"{"a":1,"b":[{"c":"x","c":"y","c":"z"}],"a":{"d":1.5,"d":-2},"e":null}"#;
        assert_eq!(json(text).unwrap(), json!({ "a": { "d": -2 }, "b": [{ "c": "z" }], "e": null }));
        let text = b"a: 1\nb:\n- {c: x, c: \"y\"}\na: [1, 2.5, true, null, word]\n";
        assert_eq!(yaml(text, false).unwrap(), json!({ "a": [1, 2.5, true, null, "word"], "b": [{ "c": "y" }] }));
    }

    #[test]
    fn raw_values_are_plain_fields() {
        let value = json!({ "$serde_json::private::RawValue": "[]" });
        assert_eq!(json(value.to_string().as_bytes()).unwrap(), value);
        assert_eq!(yaml(value.to_string().as_bytes(), false).unwrap(), value);
    }

    #[test]
    fn excessive_aliases_are_rejected() {
        let text = |levels: usize| {
            let first = format!("a0: &a0 [{}]\n", ["x"; 10].join(","));
            let level = |level: usize| {
                let alias = format!("*a{}", level - 1);
                format!("a{level}: &a{level} [{}]\n", vec![alias; 10].join(","))
            };
            std::iter::once(first).chain((1..=levels).map(level)).collect::<String>()
        };
        assert!(yaml(text(3).as_bytes(), false).is_ok());
        let error = yaml(text(9).as_bytes(), false).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("yaml: document contains excessive aliasing"));
        let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), vec!["*a"; 100].join(","));
        let error = yaml(long.as_bytes(), false).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("yaml: document contains excessive aliasing"));
    }

    #[test]
    fn deep_text_is_rejected() {
        for levels in [200, 1000, 100_000] {
            let text = "[".repeat(levels) + &"]".repeat(levels);
            assert!(json(text.as_bytes()).is_err(), "{levels}");
            assert!(yaml(text.as_bytes(), false).is_err(), "{levels}");
        }
        let text = "[".repeat(200) + &"]".repeat(200);
        let error = yaml(text.as_bytes(), false).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("yaml: exceeded max depth of 127"));
    }

    #[test]
    fn invalid_unicode_is_rejected() {
        for text in [&b"\"\xff\""[..], br#""\ud800""#] {
            assert!(json(text).is_err(), "{}", String::from_utf8_lossy(text));
        }
    }
}
