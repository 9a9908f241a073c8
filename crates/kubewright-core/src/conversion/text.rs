//! The JSON text of an object, decoded only where a conversion can change it.

use std::fmt;

use serde::{
    Serialize, Serializer,
    de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor},
    ser::SerializeMap,
};
use serde_json::{Map, Value, value::RawValue};

use super::plan::{Conversion, Struct};

const METADATA: &str = "metadata";

/// The fields of the metadata that a conversion reads or changes.
const DECODED_METADATA: [&str; 2] = ["annotations", "uid"];

/// An object of which only the fields that a conversion can change are decoded. Serializing it yields all fields.
#[derive(Debug, Default)]
pub struct TextObject<'a> {
    pub(super) fields: Map<String, Value>,
    texts: Texts<'a>,
}

/// The fields of an object that are not decoded.
#[derive(Debug, Default)]
struct Texts<'a> {
    fields: Vec<(&'a str, &'a RawValue)>,
    /// Those of decoded fields.
    nested: Vec<(&'a str, Texts<'a>)>,
}

impl<'a> TextObject<'a> {
    /// Decodes an object of a kind. `plans` are those of all spokes.
    ///
    /// # Errors
    /// A value that contains texts is not an object, has duplicate fields, or has field names with escape sequences.
    pub(super) fn decode(text: &'a str, plans: Vec<&'static Struct>) -> serde_json::Result<Self> {
        Level::Object(plans).deserialize(&mut serde_json::Deserializer::from_str(text))
    }
}

/// The level of an object in a kind.
enum Level {
    /// The kind.
    Object(Vec<&'static Struct>),
    Metadata,
    /// A field that is an object in all versions.
    Field(Vec<&'static Struct>),
}

/// How a field is decoded.
enum Decoding {
    /// Not at all.
    Text,
    Value,
    Nested(Level),
}

impl Level {
    fn decoding(&self, name: &str) -> Decoding {
        match self {
            Level::Object(_) if name == METADATA => Decoding::Nested(Level::Metadata),
            Level::Metadata if DECODED_METADATA.contains(&name) => Decoding::Value,
            Level::Metadata => Decoding::Text,
            Level::Object(plans) | Level::Field(plans) => Decoding::new(plans, name),
        }
    }
}

impl Decoding {
    fn new(plans: &[&Struct], name: &str) -> Self {
        let mut nested = Vec::new();
        for plan in plans {
            match plan.in_place(name) {
                Some(Conversion::Same) => {}
                Some(Conversion::Struct(nested_plan)) => nested.push(nested_plan),
                _ => return Decoding::Value,
            }
        }
        match nested.len() {
            0 => Decoding::Text,
            len if len == plans.len() => Decoding::Nested(Level::Field(nested)),
            _ => Decoding::Value,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Level {
    type Value = TextObject<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Level {
    type Value = TextObject<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let TextObject { mut fields, mut texts } = TextObject::default();
        while let Some(name) = map.next_key::<&str>()? {
            if fields.contains_key(name) || texts.fields.iter().any(|(known, _)| *known == name) {
                return Err(A::Error::custom("duplicate field"));
            }
            match self.decoding(name) {
                Decoding::Text => texts.fields.push((name, map.next_value()?)),
                Decoding::Value => {
                    fields.insert(name.to_owned(), map.next_value()?);
                }
                Decoding::Nested(level) => {
                    let object = map.next_value_seed(level)?;
                    fields.insert(name.to_owned(), Value::Object(object.fields));
                    texts.nested.push((name, object.texts));
                }
            }
        }
        Ok(TextObject { fields, texts })
    }
}

impl Serialize for TextObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Fields { values: &self.fields, texts: &self.texts }.serialize(serializer)
    }
}

/// The fields of an object.
struct Fields<'a> {
    values: &'a Map<String, Value>,
    texts: &'a Texts<'a>,
}

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Fields { values, texts } = self;
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in *values {
            match (value, texts.nested.iter().find(|(nested, _)| nested == name)) {
                (Value::Object(values), Some((_, texts))) => map.serialize_entry(name, &Fields { values, texts })?,
                _ => map.serialize_entry(name, value)?,
            }
        }
        texts.fields.iter().try_for_each(|(name, text)| map.serialize_entry(name, text))?;
        map.end()
    }
}
