//! Duplicate fields: detected while JSON or YAML is decoded, and reported with Go's texts.

use std::fmt::Write;

use serde::{
    Deserialize,
    de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};
use serde_saphyr::{Options, Spanned, options::DuplicateKeyPolicy};

/// The maximum number of reported errors.
const TOLD: usize = 100;
/// The prefix of YAML errors; one line per error follows.
const IN_YAML: &str = "yaml: unmarshal errors:\n  ";

/// A value and the errors of its text. The last of several duplicate fields counts.
pub(crate) struct Read {
    pub(crate) value: Value,
    /// The errors that strict decoding reports.
    pub(crate) mistakes: Vec<String>,
}

/// Decodes JSON.
pub(crate) fn json(text: &[u8]) -> serde_json::Result<Read> {
    let mut finder = Finder::default();
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let value = finder.deserialize(&mut deserializer)?;
    deserializer.end()?;
    let mistakes = finder.found.iter().map(|path| format!("duplicate field {path:?}")).collect();
    Ok(Read { value, mistakes })
}

/// Decodes the first document of a YAML text; null without a document.
pub(crate) fn yaml(text: &[u8], options: Options) -> Result<Read, serde_saphyr::Error> {
    let mut options = options;
    options.duplicate_keys = DuplicateKeyPolicy::LastWins;
    let mut text = text;
    let first = serde_saphyr::read_with_options::<_, Document>(&mut text, options).next().transpose()?;
    let Document { value, found } = first.unwrap_or_default();
    let mistakes = if found.is_empty() { Vec::new() } else { vec![format!("{IN_YAML}{}", found.join("\n  "))] };
    Ok(Read { value, mistakes })
}

/// A YAML document with its duplicate keys.
#[derive(Default)]
struct Document {
    value: Value,
    found: Vec<String>,
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut finder = Finder { has_lines: true, ..Finder::default() };
        let value = finder.deserialize(deserializer)?;
        Ok(Self { value, found: finder.found })
    }
}

/// Splits an error into single errors, as warnings report them.
pub(crate) fn each(mistake: &str) -> impl Iterator<Item = &str> {
    mistake.strip_prefix(IN_YAML).unwrap_or(mistake).split("\n  ")
}

/// Decodes values and tracks the current path.
#[derive(Default)]
struct Finder {
    /// The path of the current value.
    path: String,
    /// Errors name keys by line and not by path.
    has_lines: bool,
    found: Vec<String>,
}

impl Finder {
    /// Runs a closure with a name appended to the path.
    fn below<T>(&mut self, name: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        self.path.push_str(name);
        let value = read(self);
        self.path.truncate(length);
        value
    }

    fn note(&mut self, found: String) {
        if self.found.len() < TOLD && !self.found.contains(&found) {
            self.found.push(found);
        }
    }

    /// Returns the next key, and records an error if it is a duplicate.
    fn key<'de, A: MapAccess<'de>>(&self, fields: &mut A) -> Result<Option<(String, String)>, A::Error> {
        if self.has_lines {
            let key = fields.next_key::<Spanned<String>>()?;
            return Ok(key.map(|Spanned { value, referenced, .. }| {
                let told = format!("line {}: key {value:?} already set in map", referenced.line());
                (value, told)
            }));
        }
        let dot = if self.path.is_empty() { "" } else { "." };
        let key = fields.next_key::<String>()?;
        Ok(key.map(|key| {
            let told = format!("{}{dot}{key}", self.path);
            (key, told)
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
            match self.below(&index, |finder| items.next_element_seed(finder))? {
                Some(item) => list.push(item),
                None => return Ok(Value::Array(list)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some((key, told)) = self.key(&mut fields)? {
            if map.contains_key(&key) {
                self.note(told);
            }
            let dot = if self.path.is_empty() { "" } else { "." };
            let value = self.below(&format!("{dot}{key}"), |finder| fields.next_value_seed(finder))?;
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
    fn the_last_of_two_counts_and_both_are_told() {
        let Read { value, mistakes } =
            json(br#"{"a":1,"b":[{"c":"x","c":"y","c":"z"}],"a":{"d":1.5,"d":-2},"e":null}"#).unwrap();
        assert_eq!(value, json!({ "a": { "d": -2 }, "b": [{ "c": "z" }], "e": null }));
        let expected = [r#"duplicate field "b[0].c""#, r#"duplicate field "a""#, r#"duplicate field "a.d""#];
        assert_eq!(mistakes, expected);
    }

    #[test]
    fn in_yaml_they_are_told_by_their_lines() {
        let text = b"a: 1\nb:\n- {c: x, c: \"y\"}\na: [1, 2.5, true, null, word]\n";
        let Read { value, mistakes } = yaml(text, Options::default()).unwrap();
        assert_eq!(value, json!({ "a": [1, 2.5, true, null, "word"], "b": [{ "c": "y" }] }));
        let told =
            "yaml: unmarshal errors:\n  line 3: key \"c\" already set in map\n  line 4: key \"a\" already set in map";
        assert_eq!(mistakes, [told]);
        let lines: Vec<&str> = each(told).collect();
        assert_eq!(lines, ["line 3: key \"c\" already set in map", "line 4: key \"a\" already set in map"]);
    }

    #[test]
    fn texts_are_read_as_they_are_without_this() {
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
            let read = json(text.as_bytes()).map(|read| read.value);
            assert_eq!(read.map_err(|error| error.to_string()), plain.map_err(|error| error.to_string()), "{text}");
        }
        let deep = "[".repeat(1000);
        assert!(json(deep.as_bytes()).is_err());
    }
}
