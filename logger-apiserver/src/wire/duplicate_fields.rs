//! Duplicate fields: detected while JSON or YAML is decoded, and reported with Go's texts.

use std::fmt::Write;

use serde::{
    Deserialize,
    de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};
use serde_saphyr::{Options, Spanned, options::DuplicateKeyPolicy};

/// The maximum number of reported errors.
const MAX_ERRORS: usize = 100;
/// The prefix of YAML errors; one line per error follows.
const YAML_PREFIX: &str = "yaml: unmarshal errors:\n  ";

/// A decoded value and its strict decoding errors. The last of several duplicate fields wins.
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

/// Decodes the first document of a YAML text; null without a document.
pub(crate) fn yaml(text: &[u8], options: Options) -> Result<Decoded, serde_saphyr::Error> {
    let mut options = options;
    options.duplicate_keys = DuplicateKeyPolicy::LastWins;
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
    /// Runs a closure with a segment appended to the path.
    fn with_segment<T>(&mut self, segment: &str, decode: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        self.path.push_str(segment);
        let value = decode(self);
        self.path.truncate(length);
        value
    }

    fn record(&mut self, duplicate: String) {
        if self.duplicates.len() < MAX_ERRORS && !self.duplicates.contains(&duplicate) {
            self.duplicates.push(duplicate);
        }
    }

    /// Returns the next key, and the error to record if it is a duplicate.
    fn key<'de, A: MapAccess<'de>>(&self, fields: &mut A) -> Result<Option<(String, String)>, A::Error> {
        if self.has_lines {
            let key = fields.next_key::<Spanned<String>>()?;
            return Ok(key.map(|Spanned { value, referenced, .. }| {
                let duplicate = format!("line {}: key {value:?} already set in map", referenced.line());
                (value, duplicate)
            }));
        }
        let dot = if self.path.is_empty() { "" } else { "." };
        let key = fields.next_key::<String>()?;
        Ok(key.map(|key| {
            let duplicate = format!("{}{dot}{key}", self.path);
            (key, duplicate)
        }))
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
        let mut index = String::new();
        loop {
            index.clear();
            // Writing to a string cannot fail.
            let _ = write!(index, "[{}]", list.len());
            match self.with_segment(&index, |finder| items.next_element_seed(finder))? {
                Some(item) => list.push(item),
                None => return Ok(Value::Array(list)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some((key, duplicate)) = self.key(&mut fields)? {
            if map.contains_key(&key) {
                self.record(duplicate);
            }
            let dot = if self.path.is_empty() { "" } else { "." };
            let value = self.with_segment(&format!("{dot}{key}"), |finder| fields.next_value_seed(finder))?;
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
        let Decoded { value, strict_errors } = yaml(text, Options::default()).unwrap();
        assert_eq!(value, json!({ "a": [1, 2.5, true, null, "word"], "b": [{ "c": "y" }] }));
        let expected =
            "yaml: unmarshal errors:\n  line 3: key \"c\" already set in map\n  line 4: key \"a\" already set in map";
        assert_eq!(strict_errors, [expected]);
        let lines: Vec<&str> = split_errors(expected).collect();
        assert_eq!(lines, ["line 3: key \"c\" already set in map", "line 4: key \"a\" already set in map"]);
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
