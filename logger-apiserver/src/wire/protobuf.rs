//! Protobuf: objects of built-in kinds as Go's clients send and read them.
//!
//! It promises:
//! - What a real kube-apiserver writes is read as the JSON it writes of the same object, and written again byte by byte.
//! - Every input is decoded or rejected with Go's error. It creates a bounded number of values, at a bounded depth.
//! - A kind that has no form in protobuf is written in none: custom kinds and tables.
//!
//! An object is four bytes, `k8s` and a zero, and an envelope that says its type. How types are made of fields is data
//! (`types.json`), by which they are read and written: their JSON is the form between.

mod read;
mod special;
mod types;
mod wire;
mod write;

use serde_json::{Map, Value};

use read::Values;
use types::Types;
use wire::Reader;
pub(crate) use wire::Writer;

/// The type of bodies, and what clients accept.
pub(crate) const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";

/// What every object begins with.
const PREFIX: &[u8] = b"k8s\0";

/// What an object is and, unread, what is in it.
#[derive(Debug, Default)]
pub(crate) struct Envelope<'a> {
    api_version: Option<String>,
    kind: Option<String>,
    content: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Opens a body.
    ///
    /// # Errors
    /// What Go says of a body that is none.
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
                1 => self.api_version = said(wire::text(&mut reader, wire_type, "APIVersion")?),
                2 => self.kind = said(wire::text(&mut reader, wire_type, "Kind")?),
                _ => reader.skip(wire_type)?,
            }
        }
        Ok(())
    }

    /// The fields of the object. What it does not say of its type is to be this; of a type that is not known that is all.
    ///
    /// # Errors
    /// What Go says of a content that is none of the type.
    pub(crate) fn fields(&self, api_version: &str, kind: &str) -> Result<Map<String, Value>, String> {
        let (own_version, own_kind) = (self.api_version.as_deref(), self.kind.as_deref());
        let type_ = Types::all().of_kind(own_version.unwrap_or(api_version), own_kind.unwrap_or(kind));
        let mut fields =
            type_.map_or_else(|| Ok(Map::new()), |type_| Values::default().message(type_, self.content))?;
        let said = [("apiVersion", own_version), ("kind", own_kind)];
        let said = said.into_iter().filter_map(|(name, text)| Some((name.to_owned(), Value::from(text?))));
        fields.extend(said);
        Ok(fields)
    }
}

/// A text, unless it is empty.
fn said(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// Writes an object that says its type; none, if that is not known.
pub(crate) fn encode(object: &Value) -> Option<Vec<u8>> {
    let text = |name| object.get(name).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let type_ = Types::all().of_kind(api_version, kind)?;
    let mut type_meta = Writer::default();
    type_meta.bytes(1, api_version.as_bytes());
    type_meta.bytes(2, kind.as_bytes());
    let mut envelope = Writer::beginning_with(PREFIX);
    envelope.bytes(1, &type_meta.written());
    envelope.bytes(2, &write::message(type_, object));
    // How the content is encoded and of which type it is: always there, and always empty.
    envelope.bytes(3, b"");
    envelope.bytes(4, b"");
    Some(envelope.written())
}

/// Writes an event of a watch with its length before it; none, if the type of its object is not known.
pub(crate) fn encode_event(type_: &str, object: &Value) -> Option<Vec<u8>> {
    let mut raw = Writer::default();
    raw.bytes(1, &encode(object)?);
    let mut event = Writer::default();
    event.bytes(1, type_.as_bytes());
    event.bytes(2, &raw.written());
    let event = event.written();
    let length = u32::try_from(event.len()).ok()?;
    Some([length.to_be_bytes().as_slice(), &event].concat())
}

#[cfg(test)]
mod tests;
