//! Duplicate fields: detected while JSON or YAML is decoded, and reported with Go's texts.

use std::fmt::Write;

use serde::{
    Deserialize,
    de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};
use serde_saphyr::{Budget, Error as ParseError, Options, Spanned, budget::BudgetBreach, options::DuplicateKeyPolicy};

use crate::{api::depth, wire::MAX_BODY_BYTES};

/// The maximum number of strict decoding errors, as in Go's decoder.
pub(crate) const MAX_ERRORS: usize = 100;
/// The size of strict decoding errors from which on no further ones are recorded: each contains a path.
const MAX_ERROR_BYTES: usize = 256 << 10;
/// The maximum number of YAML nodes that aliases add: approximately that of Go's decoder (`allowedAliasRatio`).
const MAX_ALIASED_NODES: usize = 400_000;
/// The maximum size of all scalars of a YAML text with its aliases replaced. Text without aliases does not exceed it:
/// escape sequences decode to at most three bytes for two.
const MAX_SCALAR_BYTES: usize = 2 * MAX_BODY_BYTES;
/// The prefix of YAML errors; one line per error follows.
const YAML_PREFIX: &str = "yaml: unmarshal errors:\n  ";

/// A decoded value and its strict decoding errors. The last of several duplicate fields wins.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) value: Value,
    /// The errors that strict decoding reports.
    pub(crate) strict_errors: Vec<String>,
}

/// Decodes JSON.
pub(crate) fn json(text: &[u8]) -> serde_json::Result<Decoded> {
    let mut finder = Finder::default();
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let value = finder.deserialize(&mut deserializer)?;
    deserializer.end()?;
    let strict_errors = finder.duplicates.iter().map(|path| format!("duplicate field {path:?}")).collect();
    Ok(Decoded { value, strict_errors })
}

/// The stack for YAML of the maximum depth, in bytes: without optimizations, a level needs 25 kB.
const YAML_STACK: usize = 8 << 20;

/// The error for a YAML text that cannot be decoded.
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

/// Decodes the first document of a YAML text; null without a document. Numbers of YAML 1.1 such as `010` are octal if
/// the option is set.
pub(crate) fn yaml(text: &[u8], legacy_octal_numbers: bool) -> Result<Decoded, YamlError> {
    stacker::maybe_grow(YAML_STACK, YAML_STACK, || decode_yaml(text, legacy_octal_numbers))
}

fn decode_yaml(text: &[u8], legacy_octal_numbers: bool) -> Result<Decoded, YamlError> {
    let mut options = Options::default();
    options.legacy_octal_numbers = legacy_octal_numbers;
    options.duplicate_keys = DuplicateKeyPolicy::LastWins;
    options.alias_limits.max_total_replayed_events = MAX_ALIASED_NODES;
    options.budget = Some(budget(text.len()));
    let mut text = text;
    let first = serde_saphyr::read_with_options::<_, Document>(&mut text, options).next().transpose()?;
    let Document { value, duplicates } = first.unwrap_or_default();
    let strict_errors =
        if duplicates.is_empty() { Vec::new() } else { vec![format!("{YAML_PREFIX}{}", duplicates.join("\n  "))] };
    Ok(Decoded { value, strict_errors })
}

/// A YAML document with its duplicate keys.
#[derive(Default)]
struct Document {
    value: Value,
    duplicates: Vec<String>,
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut finder = Finder { has_lines: true, ..Finder::default() };
        let value = finder.deserialize(deserializer)?;
        Ok(Self { value, duplicates: finder.duplicates })
    }
}

/// Splits an error into single errors, as warnings report them.
pub(crate) fn split_errors(error: &str) -> impl Iterator<Item = &str> {
    error.strip_prefix(YAML_PREFIX).unwrap_or(error).split("\n  ")
}

/// Decodes values and records duplicate fields.
#[derive(Default)]
struct Finder {
    /// The path of the current value.
    path: String,
    /// Whether errors identify keys by line instead of by path.
    has_lines: bool,
    duplicates: Vec<String>,
}

impl Finder {
    /// Runs a closure with the name of a field appended to the path.
    fn with_field<T>(&mut self, name: &str, decode: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        let value = decode(self);
        self.path.truncate(length);
        value
    }

    /// Runs a closure with an index appended to the path.
    fn with_index<T>(&mut self, index: usize, decode: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        // Writing to a string cannot fail.
        let _ = write!(self.path, "[{index}]");
        let value = decode(self);
        self.path.truncate(length);
        value
    }

    /// Records a duplicate key of the current value.
    fn record(&mut self, key: &str, line: Option<u64>) {
        let recorded_bytes: usize = self.duplicates.iter().map(String::len).sum();
        if self.duplicates.len() >= MAX_ERRORS || recorded_bytes >= MAX_ERROR_BYTES {
            return;
        }
        let duplicate = match line {
            Some(line) => format!("line {line}: key {key:?} already set in map"),
            None if self.path.is_empty() => key.to_owned(),
            None => format!("{}.{key}", self.path),
        };
        if !self.duplicates.contains(&duplicate) {
            self.duplicates.push(duplicate);
        }
    }

    /// Returns the next key, with its line if errors identify keys by line.
    fn key<'de, A: MapAccess<'de>>(&self, fields: &mut A) -> Result<Option<(String, Option<u64>)>, A::Error> {
        if self.has_lines {
            let key = fields.next_key::<Spanned<String>>()?;
            return Ok(key.map(|Spanned { value, referenced, .. }| (value, Some(referenced.line()))));
        }
        Ok(fields.next_key::<String>()?.map(|key| (key, None)))
    }
}

impl<'de> DeserializeSeed<'de> for &mut Finder {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Finder {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = self.with_index(list.len(), |finder| items.next_element_seed(finder))? {
            list.push(item);
        }
        // The list may be stored.
        list.shrink_to_fit();
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some((key, line)) = self.key(&mut fields)? {
            if map.contains_key(&key) {
                self.record(&key, line);
            }
            let value = self.with_field(&key, |finder| fields.next_value_seed(finder))?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_duplicate_wins_and_each_is_reported() {
        let Decoded { value, strict_errors } =
            json(br#"{"a":1,"b":[{"c":"x","c":"y","c":"z"}],"a":{"d":1.5,"d":-2},"e":null}"#).unwrap();
        assert_eq!(value, json!({ "a": { "d": -2 }, "b": [{ "c": "z" }], "e": null }));
        let expected = [r#"duplicate field "b[0].c""#, r#"duplicate field "a""#, r#"duplicate field "a.d""#];
        assert_eq!(strict_errors, expected);
    }

    #[test]
    fn yaml_duplicates_are_reported_by_line() {
        let text = b"a: 1\nb:\n- {c: x, c: \"y\"}\na: [1, 2.5, true, null, word]\n";
        let Decoded { value, strict_errors } = yaml(text, false).unwrap();
        assert_eq!(value, json!({ "a": [1, 2.5, true, null, "word"], "b": [{ "c": "y" }] }));
        let expected =
            "yaml: unmarshal errors:\n  line 3: key \"c\" already set in map\n  line 4: key \"a\" already set in map";
        assert_eq!(strict_errors, [expected]);
        let lines: Vec<&str> = split_errors(expected).collect();
        assert_eq!(lines, ["line 3: key \"c\" already set in map", "line 4: key \"a\" already set in map"]);
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
    fn errors_with_long_paths_are_bounded() {
        let key = "k".repeat(100 << 10);
        let duplicates = ["\"d\":1"; 2].join(",");
        let maps: Vec<String> = (0..50).map(|_| format!("{{{duplicates}}}")).collect();
        let Decoded { strict_errors, .. } = json(format!("{{\"{key}\":[{}]}}", maps.join(",")).as_bytes()).unwrap();
        assert_eq!(strict_errors.len(), 3);
    }

    #[test]
    fn values_and_errors_are_those_of_serde_json() {
        for text in [
            "",
            "{",
            "[1,2",
            "1 2",
            r#"{"a":1e400}"#,
            "nul",
            r#""\u12""#,
            r#"{"a":{"b":[1,-1,0.5,18446744073709551615]}}"#,
        ] {
            let plain = serde_json::from_slice::<Value>(text.as_bytes());
            let decoded = json(text.as_bytes()).map(|decoded| decoded.value);
            assert_eq!(decoded.map_err(|error| error.to_string()), plain.map_err(|error| error.to_string()), "{text}");
        }
        let deep = "[".repeat(1000);
        assert!(json(deep.as_bytes()).is_err());
    }
}
