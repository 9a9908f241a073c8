//! Response bodies, encoded as JSON, YAML or protobuf.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::wire::protobuf;

/// The encoding of values.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum Encoding {
    #[default]
    Json,
    Yaml,
    Protobuf,
}

/// The capacity of the first allocation for JSON, in bytes. Most objects are smaller.
const JSON_CAPACITY: usize = 1 << 10;

/// An encoded value.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) media_type: &'static str,
    pub(crate) bytes: Vec<u8>,
}

impl Encoding {
    /// Returns the encoding of a media type.
    pub(crate) fn named(media_type: &str) -> Option<Self> {
        [Self::Json, Self::Yaml, Self::Protobuf].into_iter().find(|encoding| encoding.media_type() == media_type)
    }

    fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Yaml => "application/yaml",
            Self::Protobuf => protobuf::MEDIA_TYPE,
        }
    }

    /// Returns the media type of a stream of events.
    pub(crate) fn stream_media_type(self) -> &'static str {
        match self {
            Self::Json | Self::Yaml => Self::Json.media_type(),
            Self::Protobuf => "application/vnd.kubernetes.protobuf;stream=watch",
        }
    }

    /// Encodes a value. Types without a protobuf encoding are encoded as JSON.
    pub(crate) fn write(self, value: &impl Serialize) -> Content {
        let encoded = match self {
            Self::Json => None,
            Self::Yaml => yaml(value),
            Self::Protobuf => protobuf::encode(&as_value(value)),
        };
        match encoded {
            Some(bytes) => Content { media_type: self.media_type(), bytes },
            None => Content { media_type: Self::Json.media_type(), bytes: json(value) },
        }
    }

    /// Encodes an error as an event of a watch.
    pub(crate) fn error_event(self, status: &impl Serialize) -> Bytes {
        self.event("ERROR", status)
    }

    /// Encodes an event of a watch: as a JSON line, or as a length-prefixed protobuf frame.
    pub(crate) fn event(self, type_: &str, object: &impl Serialize) -> Bytes {
        #[derive(Serialize)]
        struct Line<'a, T> {
            #[serde(rename = "type")]
            type_: &'a str,
            object: &'a T,
        }
        let framed = match self {
            Self::Json | Self::Yaml => None,
            Self::Protobuf => protobuf::encode_event(type_, &as_value(object)),
        };
        let line = || {
            let mut line = json(&Line { type_, object });
            line.push(b'\n');
            line
        };
        framed.unwrap_or_else(line).into()
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    let mut json = Vec::with_capacity(JSON_CAPACITY);
    serde_json::to_writer(&mut json, value).expect("objects have string keys and serialize");
    json
}

/// Returns the value of a serializable type. It has no maximum depth, unlike that of `serde_json::to_value`.
fn as_value(value: &impl Serialize) -> Value {
    let json = json(value);
    let mut deserializer = serde_json::Deserializer::from_slice(&json);
    deserializer.disable_recursion_limit();
    Value::deserialize(&mut deserializer).expect("encoded JSON is valid")
}

/// Encodes a value as YAML, with its fields sorted by name. Returns `None` if it cannot be represented.
fn yaml(value: &impl Serialize) -> Option<Vec<u8>> {
    let mut value = as_value(value);
    value.sort_all_objects();
    serde_saphyr::to_string(&value).ok().map(String::into_bytes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn yaml_round_trips() {
        let value = json!({ "kind": "A", "apiVersion": "v1", "b": { "y": "y", "n": "1.0", "l": [], "t": "a: b\nc", "x": null } });
        let Content { media_type, bytes } = Encoding::Yaml.write(&value);
        assert_eq!((media_type, serde_saphyr::from_slice::<Value>(&bytes).unwrap()), ("application/yaml", value));
        assert!(bytes.starts_with(b"apiVersion: v1\n"), "{}", String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn types_without_a_protobuf_encoding_are_json() {
        let value = json!({ "kind": "Widget", "apiVersion": "example.com/v1" });
        assert_eq!(Encoding::Protobuf.write(&value).media_type, "application/json");
    }
}
