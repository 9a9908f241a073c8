//! The protobuf encoding of objects of built-in kinds, as Go clients use it.
//!
//! Guarantees:
//! - Objects that a real kube-apiserver encodes are decoded as its JSON encoding of them, and encoded again byte for
//!   byte.
//! - Every input is decoded or rejected with Go's error. It creates a bounded number of values, at a bounded depth.
//! - Custom kinds and tables have no protobuf encoding.
//!
//! An object starts with the four bytes `k8s\0`, followed by an envelope (`runtime.Unknown`) that contains its type. A
//! table (`api/types.json`) defines the fields of all types; decoding and encoding convert between protobuf and JSON.

mod read;
mod special;
mod wire;
mod write;

use serde_json::{Map, Value};

use crate::api::types::Types;

use read::Values;
use wire::Reader;
pub(crate) use wire::Writer;

/// The media type.
pub(crate) const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";

/// The prefix of every object.
const PREFIX: &[u8] = b"k8s\0";

/// The type of an object, and its content, which is not decoded yet.
#[derive(Debug, Default)]
pub(crate) struct Envelope<'a> {
    api_version: Option<String>,
    kind: Option<String>,
    content: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Decodes the envelope of a body.
    ///
    /// # Errors
    /// The body is not an envelope; the error is that of Go.
    pub(crate) fn open(body: &'a [u8]) -> Result<Self, String> {
        let envelope = match body.strip_prefix(PREFIX) {
            _ if body.is_empty() => return Err("empty data".to_owned()),
            None => {
                let expected = "provided data does not appear to be a protobuf message, expected prefix";
                return Err(format!("{expected} [107 56 115 0]"));
            }
            Some([]) => return Err("empty body".to_owned()),
            Some(envelope) => envelope,
        };
        let mut opened = Self::default();
        let mut reader = Reader::new(envelope);
        while let Some((number, wire_type)) = reader.key("Unknown")? {
            match number {
                1 => opened.type_meta(wire::bytes(&mut reader, wire_type, "TypeMeta")?)?,
                2 => opened.content = wire::bytes(&mut reader, wire_type, "Raw")?,
                _ => reader.skip(wire_type)?,
            }
        }
        Ok(opened)
    }

    fn type_meta(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut reader = Reader::new(bytes);
        while let Some((number, wire_type)) = reader.key("TypeMeta")? {
            match number {
                1 => self.api_version = non_empty(wire::text(&mut reader, wire_type, "APIVersion")?),
                2 => self.kind = non_empty(wire::text(&mut reader, wire_type, "Kind")?),
                _ => reader.skip(wire_type)?,
            }
        }
        Ok(())
    }

    /// Decodes the fields of the object. A missing `apiVersion` or `kind` is assumed to be the given one. An object of
    /// an unknown type has no other fields.
    ///
    /// # Errors
    /// The content does not match the type; the error is that of Go.
    pub(crate) fn fields(&self, api_version: &str, kind: &str) -> Result<Map<String, Value>, String> {
        let (own_version, own_kind) = (self.api_version.as_deref(), self.kind.as_deref());
        let type_ = Types::all().of_kind(own_version.unwrap_or(api_version), own_kind.unwrap_or(kind));
        let mut fields =
            type_.map_or_else(|| Ok(Map::new()), |type_| Values::default().message(type_, self.content))?;
        let type_meta = [("apiVersion", own_version), ("kind", own_kind)];
        let type_meta = type_meta.into_iter().filter_map(|(name, text)| Some((name.to_owned(), Value::from(text?))));
        fields.extend(type_meta);
        Ok(fields)
    }
}

/// Returns a text, unless it is empty.
fn non_empty(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// Encodes an object. Returns `None` for a type without a protobuf encoding.
pub(crate) fn encode(object: &Value) -> Option<Vec<u8>> {
    let text = |name| object.get(name).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let type_ = Types::all().of_kind(api_version, kind)?;
    let mut type_meta = Writer::default();
    type_meta.bytes(1, api_version.as_bytes());
    type_meta.bytes(2, kind.as_bytes());
    let mut envelope = Writer::with_prefix(PREFIX);
    envelope.bytes(1, &type_meta.into_bytes());
    envelope.bytes(2, &write::message(type_, object));
    // The encoding and the media type of the content: always present and always empty.
    envelope.bytes(3, b"");
    envelope.bytes(4, b"");
    Some(envelope.into_bytes())
}

/// Encodes an event of a watch with its length as a prefix. Returns `None` for an object without a protobuf encoding.
pub(crate) fn encode_event(type_: &str, object: &Value) -> Option<Vec<u8>> {
    let mut raw = Writer::default();
    raw.bytes(1, &encode(object)?);
    let mut event = Writer::default();
    event.bytes(1, type_.as_bytes());
    event.bytes(2, &raw.into_bytes());
    let event = event.into_bytes();
    let length = u32::try_from(event.len()).ok()?;
    Some([length.to_be_bytes().as_slice(), &event].concat())
}

#[cfg(test)]
mod tests;
