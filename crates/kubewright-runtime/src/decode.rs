//! Streaming decoding of lists and watches: objects are decoded while the response arrives, without their managed
//! fields.

mod field_path;
mod framer;
mod scanner;
mod skipped;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, marker::PhantomData};

use kube::core::Status;
use serde::{
    Deserialize,
    de::{DeserializeOwned, IgnoredAny},
};

pub use skipped::SkippedObject;

use crate::{
    error::{ObjectError, catch_panic},
    object::{ApiObject, ResourceVersion},
};
use framer::{Frame, Framer, Shape};
use scanner::Scanner;

/// The maximum length of a deserialization error, in bytes.
const MAX_ERROR_LEN: usize = 500;

/// How to handle `metadata.managedFields`, which caches seldom need and which take half the memory of a small object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ManagedFields {
    /// Skips them without decoding, which saves time and memory.
    #[default]
    Drop,
    /// Decodes them.
    Keep,
}

/// A response that is not a list or watch of the expected kind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The response is not a JSON object, such as the page of a proxy.
    #[error("not JSON; does a proxy respond in place of the API server?")]
    NotJson,
    /// The response is JSON, but its `items` or `object` are not objects.
    #[error("`items` or `object` holds something other than objects")]
    NotAnObject,
    /// An object, or the envelope around the objects, exceeds 64 MiB.
    #[error("an object of more than 64 MiB")]
    TooLarge,
    /// The response is incomplete.
    #[error("the response is truncated: the connection or the server was interrupted")]
    Truncated,
    /// An object does not have the expected kind.
    #[error("{0}")]
    Deserialize(String),
    /// An object with a name does not have the expected kind, or decoding it panicked.
    #[error(transparent)]
    Object(#[from] ObjectError),
}

impl From<serde_json::Error> for DecodeError {
    fn from(error: serde_json::Error) -> Self {
        DecodeError::Deserialize(truncated(error.to_string()))
    }
}

fn truncated(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_ERROR_LEN));
    text
}

/// Decodes one object.
///
/// # Errors
/// Fails if the text is not JSON or not of this kind.
pub fn object<K: DeserializeOwned>(json: &[u8], managed_fields: ManagedFields) -> Result<K, DecodeError> {
    ObjectDecoder::new(managed_fields).decode(json)
}

/// Decodes objects one by one.
#[derive(Debug)]
pub struct ObjectDecoder(Option<Scanner>);

impl ObjectDecoder {
    /// Creates a decoder that reuses its buffer.
    pub fn new(managed_fields: ManagedFields) -> Self {
        ObjectDecoder((managed_fields == ManagedFields::Drop).then(|| Scanner::skipping(framer::MANAGED_FIELDS)))
    }

    /// Decodes one object.
    ///
    /// # Errors
    /// Fails if the text is not JSON or not of this kind.
    pub fn decode<K: DeserializeOwned>(&mut self, json: &[u8]) -> Result<K, DecodeError> {
        let json = json.trim_ascii();
        let Some(scanner) = &mut self.0 else {
            return deserialize(json);
        };
        scanner.clear(framer::RETAINED_CAPACITY);
        match json.first() {
            Some(b'{') => deserialize(scanner.scan_all(json)),
            _ => Err(DecodeError::NotJson),
        }
    }
}

/// Deserializes JSON from a string, as kube's client does, so that the code of a kind is instantiated once.
fn deserialize<T: DeserializeOwned>(json: &[u8]) -> Result<T, DecodeError> {
    Ok(serde_json::from_str(utf8(json)?)?)
}

/// Decodes one object of a response, or returns why it cannot be decoded. An implementation of `Deserialize` may panic.
///
/// # Errors
/// Fails if the object cannot be decoded and has no name, so that the response is invalid.
pub(crate) fn decode_item<K: DeserializeOwned>(json: &[u8]) -> Result<Result<K, Box<SkippedObject>>, DecodeError> {
    let text = utf8(json)?;
    match catch_panic(|| serde_json::from_str(text)) {
        Ok(Ok(object)) => Ok(Ok(object)),
        Ok(Err(error)) => SkippedObject::malformed(text, &error).map(Err),
        Err(panic) => SkippedObject::panicked(text, panic).map(Err),
    }
}

fn utf8(json: &[u8]) -> Result<&str, DecodeError> {
    std::str::from_utf8(json).map_err(|error| DecodeError::Deserialize(error.to_string()))
}

/// The metadata of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListMeta {
    /// The resource version of the list; empty if the server sent none.
    pub resource_version: String,
    /// The token to request the next page with, if there is one.
    pub continue_token: Option<String>,
    /// Whether the server applied the shard selector.
    pub sharded: bool,
}

/// Decodes a list while its bytes arrive.
///
/// Guarantees:
/// - the objects are those of decoding the complete text, in that order, without their managed fields;
/// - at most one object is buffered as text.
#[derive(Debug)]
pub struct ListDecoder<K> {
    framer: Framer,
    meta: Option<ListMeta>,
    kind: PhantomData<fn() -> K>,
}

impl<K: DeserializeOwned> ListDecoder<K> {
    /// Creates a decoder of one response.
    pub fn new(managed_fields: ManagedFields) -> Self {
        let framer = Framer::new(Shape::List, managed_fields == ManagedFields::Keep);
        ListDecoder { framer, meta: None, kind: PhantomData }
    }

    /// Decodes the next bytes and passes each complete object to `sink`.
    ///
    /// # Errors
    /// Fails if this is not a list of the kind. Objects may have been passed to `sink`.
    pub fn push(&mut self, bytes: &[u8], mut sink: impl FnMut(K)) -> Result<(), DecodeError> {
        self.push_results(bytes, |object| {
            sink(object.map_err(|skipped| skipped.error)?);
            Ok(())
        })
    }

    /// Decodes the next bytes and passes the result of each complete object to `sink`, so that objects that cannot be
    /// decoded can be skipped. An object without a name cannot be skipped.
    ///
    /// # Errors
    /// Fails if this is not a list of objects, or `sink` fails. Objects may have been passed to `sink`.
    pub fn push_results(
        &mut self,
        bytes: &[u8],
        mut sink: impl FnMut(Result<K, Box<SkippedObject>>) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        self.push_texts(bytes, |object, _| sink(object))
    }

    /// Decodes the next bytes like [`push_results`](Self::push_results), and also passes the text of each object.
    ///
    /// # Errors
    /// Fails if this is not a list of objects, or `sink` fails. Objects may have been passed to `sink`.
    pub(crate) fn push_texts(
        &mut self,
        mut bytes: &[u8],
        mut sink: impl FnMut(Result<K, Box<SkippedObject>>, &[u8]) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        while let Some(frame) = self.framer.next(&mut bytes)? {
            match frame {
                _ if self.meta.is_some() => return Err(DecodeError::NotJson),
                Frame::Object => sink(decode_item(self.framer.object())?, self.framer.object())?,
                Frame::Envelope => {
                    self.meta = Some(serde_json::from_slice::<ListEnvelope>(self.framer.envelope())?.metadata.into())
                }
            }
        }
        Ok(())
    }

    /// Ends the response and returns the metadata of the list.
    ///
    /// # Errors
    /// Fails if the response is incomplete.
    pub fn finish(self) -> Result<ListMeta, DecodeError> {
        match self.meta {
            Some(meta) if !self.framer.is_incomplete() => Ok(meta),
            _ => Err(DecodeError::Truncated),
        }
    }
}

/// A watch event, with the resource version that the server sent, even if a transform changes the object.
#[derive(Clone, Debug)]
pub enum WatchEvent<K> {
    /// The object was created, or matches the selector since this event.
    Added(K, ResourceVersion),
    /// The object was changed.
    Modified(K, ResourceVersion),
    /// The object was deleted. Contains its final state and the version of the deletion.
    Deleted(K, ResourceVersion),
    /// There were no other changes up to this version.
    Bookmark {
        /// The version of the watch.
        version: ResourceVersion,
        /// Whether all initial events were sent.
        initial_events_end: bool,
    },
    /// An object changed that cannot be decoded.
    Skipped(ChangeType, Box<SkippedObject>),
    /// The watch failed.
    Error(Box<Status>),
    /// An unknown type of event.
    Unknown(String),
}

/// The type of a change of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeType {
    /// The object was created, or matches the selector since this event.
    Added,
    /// The object was changed.
    Modified,
    /// The object was deleted.
    Deleted,
}

/// Decodes a watch while its bytes arrive.
///
/// Guarantees:
/// - an event is decoded as soon as its last byte arrives;
/// - a truncated event is not returned;
/// - a plain `Status`, as an intermediary can send it, is returned as an error event.
#[derive(Debug)]
pub struct WatchDecoder<K> {
    framer: Framer,
    kind: PhantomData<fn() -> K>,
}

impl<K: ApiObject> WatchDecoder<K> {
    /// Creates a decoder of one response.
    pub fn new(managed_fields: ManagedFields) -> Self {
        let framer = Framer::new(Shape::Events, managed_fields == ManagedFields::Keep);
        WatchDecoder { framer, kind: PhantomData }
    }

    /// Consumes bytes up to the end of an event and returns it; `None` if all were consumed without completing one.
    ///
    /// # Errors
    /// Fails if this is not a watch event, or its object cannot be decoded and has no name.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Result<Option<WatchEvent<K>>, DecodeError> {
        while let Some(frame) = self.framer.next(bytes)? {
            if frame == Frame::Envelope {
                return decode_event(self.framer.envelope(), self.framer.object()).map(Some);
            }
        }
        Ok(None)
    }
}

/// Decodes the envelope of an event, then its object, according to the type of the event.
fn decode_event<K: ApiObject>(envelope: &[u8], object: &[u8]) -> Result<WatchEvent<K>, DecodeError> {
    let typed = match serde_json::from_slice::<EventEnvelope<'_>>(envelope)? {
        EventEnvelope { r#type: Some(typed), .. } => typed,
        EventEnvelope { kind: Some("Status"), .. } => {
            return Ok(WatchEvent::Error(Box::new(serde_json::from_slice(envelope)?)));
        }
        _ => return Err(DecodeError::NotAnObject),
    };
    Ok(match typed {
        "ADDED" => object_event(object, ChangeType::Added)?,
        "MODIFIED" => object_event(object, ChangeType::Modified)?,
        "DELETED" => object_event(object, ChangeType::Deleted)?,
        "BOOKMARK" => serde_json::from_slice::<Bookmark>(object)?.into(),
        "ERROR" => WatchEvent::Error(Box::new(serde_json::from_slice(object)?)),
        unknown => WatchEvent::Unknown(unknown.to_owned()),
    })
}

fn object_event<K: ApiObject>(object: &[u8], change: ChangeType) -> Result<WatchEvent<K>, DecodeError> {
    let object: K = match decode_item(object)? {
        Ok(object) => object,
        Err(skipped) => return Ok(WatchEvent::Skipped(change, skipped)),
    };
    let version = ResourceVersion::new(object.meta().resource_version.as_deref().unwrap_or_default());
    Ok(match change {
        ChangeType::Added => WatchEvent::Added(object, version),
        ChangeType::Modified => WatchEvent::Modified(object, version),
        ChangeType::Deleted => WatchEvent::Deleted(object, version),
    })
}

/// An event without its object. The type names contain no escapes, so they can be borrowed.
#[derive(Deserialize)]
struct EventEnvelope<'a> {
    r#type: Option<&'a str>,
    kind: Option<&'a str>,
}

#[derive(Deserialize)]
struct Bookmark {
    metadata: BookmarkMeta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BookmarkMeta {
    resource_version: String,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

impl<K> From<Bookmark> for WatchEvent<K> {
    fn from(Bookmark { metadata }: Bookmark) -> Self {
        let ends = metadata.annotations.get("k8s.io/initial-events-end").is_some_and(|value| value == "true");
        let version = ResourceVersion::new(&metadata.resource_version);
        WatchEvent::Bookmark { version, initial_events_end: ends }
    }
}

/// A list without its objects. Both fields are required, so that a response that is not a list is not an empty list.
#[derive(Deserialize)]
struct ListEnvelope {
    metadata: RawListMeta,
    /// Go serializes an empty list as `null`.
    #[serde(rename = "items", deserialize_with = "Option::deserialize")]
    _items: Option<[(); 0]>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawListMeta {
    resource_version: String,
    #[serde(rename = "continue")]
    continue_token: Option<String>,
    shard_info: Option<IgnoredAny>,
}

impl From<RawListMeta> for ListMeta {
    fn from(meta: RawListMeta) -> Self {
        let continue_token = meta.continue_token.filter(|token| !token.is_empty());
        ListMeta { resource_version: meta.resource_version, continue_token, sharded: meta.shard_info.is_some() }
    }
}
