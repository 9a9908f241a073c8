//! The order of the fields of a JSON text.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};

/// Returns the names of the fields of each line, in their order, without values.
pub(crate) fn field_names(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_str(line).map_or_else(|error| error.to_string(), |Names(names)| names)).collect()
}

/// The names of the fields of a value, such as `{a b{c} d[{e}]}`.
struct Names(String);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NamesVisitor).map(Self)
    }
}

struct NamesVisitor;

impl<'de> Visitor<'de> for NamesVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<String, E> {
        Ok(String::new())
    }

    fn visit_i64<E>(self, _: i64) -> Result<String, E> {
        Ok(String::new())
    }

    fn visit_u64<E>(self, _: u64) -> Result<String, E> {
        Ok(String::new())
    }

    fn visit_f64<E>(self, _: f64) -> Result<String, E> {
        Ok(String::new())
    }

    fn visit_str<E>(self, _: &str) -> Result<String, E> {
        Ok(String::new())
    }

    fn visit_unit<E>(self) -> Result<String, E> {
        Ok(String::new())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<String, A::Error> {
        let mut names = Vec::new();
        while let Some(Names(item)) = items.next_element()? {
            names.push(item);
        }
        names.retain(|item| !item.is_empty());
        Ok(if names.is_empty() { String::new() } else { format!("[{}]", names.join(" ")) })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<String, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = fields.next_key::<String>()? {
            if name == "storageVersionHash" {
                fields.next_value::<IgnoredAny>()?;
                continue;
            }
            let Names(inner) = fields.next_value()?;
            names.push(format!("{name}{inner}"));
        }
        Ok(format!("{{{}}}", names.join(" ")))
    }
}
