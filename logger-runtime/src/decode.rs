//! Decoding for a cache: objects come out one by one while a list or watch is still on its way, without their `managedFields`.

mod frames;
mod scan;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::marker::PhantomData;

use kube::core::Status;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::object::ApiObject;
use crate::version::ResourceVersion;
use frames::{Found, Frames, Shape};
use scan::Scan;

/// How much of an unexpected text an error tells, in bytes.
const LONGEST_TOLD: usize = 500;

/// What becomes of `metadata.managedFields`, which caches seldom need and which take half the memory of a small object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ManagedFields {
    /// They are passed over in the text: they cost neither time nor memory.
    #[default]
    Dropped,
    /// They are decoded with the rest.
    Kept,
}

/// An answer that is no list, no watch, or not of this kind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadAnswer {
    /// It is no JSON object, such as a proxy's page.
    #[error("not JSON; is there something between the API server and this program that answers in its place?")]
    NoJson,
    /// It is JSON, but what stands where the objects are is none.
    #[error("`items` or `object` holds something other than objects")]
    NoObjects,
    /// One object, or what is around the objects, is longer than 64 MiB.
    #[error("an object of more than 64 MiB")]
    TooLong,
    /// It ended in the middle.
    #[error("it ends in the middle: the connection or the server was cut off")]
    Truncated,
    /// An object is not of this kind.
    #[error("{0}")]
    Undecodable(String),
}

impl From<serde_json::Error> for BadAnswer {
    fn from(error: serde_json::Error) -> Self {
        let mut text = error.to_string();
        text.truncate(text.floor_char_boundary(LONGEST_TOLD));
        BadAnswer::Undecodable(text)
    }
}

/// Decodes one object.
///
/// # Errors
/// The text is no JSON, or not of this kind.
pub fn object<K: DeserializeOwned>(json: &[u8], managed_fields: ManagedFields) -> Result<K, BadAnswer> {
    ObjectDecoder::new(managed_fields).decode(json)
}

/// Decodes objects, one after the other.
#[derive(Debug)]
pub struct ObjectDecoder(Option<Scan>);

impl ObjectDecoder {
    /// A decoder that keeps a buffer from one object to the next.
    pub fn new(managed_fields: ManagedFields) -> Self {
        ObjectDecoder((managed_fields == ManagedFields::Dropped).then(|| Scan::without(frames::MANAGED_FIELDS)))
    }

    /// Decodes one object.
    ///
    /// # Errors
    /// The text is no JSON, or not of this kind.
    pub fn decode<K: DeserializeOwned>(&mut self, json: &[u8]) -> Result<K, BadAnswer> {
        let json = json.trim_ascii();
        let Some(scan) = &mut self.0 else {
            return read(json);
        };
        scan.clear(frames::KEPT);
        match json.first() {
            Some(b'{') => read(scan.whole(json)),
            _ => Err(BadAnswer::NoJson),
        }
    }
}

/// Reads JSON as text, as kube's client does: so the code for a kind is there once.
fn read<T: DeserializeOwned>(json: &[u8]) -> Result<T, BadAnswer> {
    let text = std::str::from_utf8(json).map_err(|error| BadAnswer::Undecodable(error.to_string()))?;
    Ok(serde_json::from_str(text)?)
}

/// What a list says besides its objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListMeta {
    /// The version all objects of the list are of; empty where the server told none.
    pub version: String,
    /// There are more objects: ask for them with this.
    pub continue_token: Option<String>,
    /// The server has applied the shard selector.
    pub sharded: bool,
}

/// Decodes a list while its bytes come.
///
/// It promises:
/// - the objects are those that decoding the whole gives, in that order, but for their `managedFields`;
/// - besides the objects it keeps no more than one of them as text.
#[derive(Debug)]
pub struct ListDecoder<K> {
    frames: Frames,
    meta: Option<ListMeta>,
    kind: PhantomData<fn() -> K>,
}

impl<K: DeserializeOwned> ListDecoder<K> {
    /// Of one answer.
    pub fn new(managed_fields: ManagedFields) -> Self {
        let frames = Frames::new(Shape::List, managed_fields == ManagedFields::Kept);
        ListDecoder { frames, meta: None, kind: PhantomData }
    }

    /// Takes the next bytes and hands over each object that is whole.
    ///
    /// # Errors
    /// This is no list, or not of this kind; objects may have been handed over.
    pub fn push(&mut self, mut bytes: &[u8], mut sink: impl FnMut(K)) -> Result<(), BadAnswer> {
        while let Some(found) = self.frames.next(&mut bytes)? {
            match found {
                _ if self.meta.is_some() => return Err(BadAnswer::NoJson),
                Found::Object => sink(read(self.frames.object())?),
                Found::Around => {
                    self.meta = Some(serde_json::from_slice::<Around>(self.frames.around())?.metadata.into())
                }
            }
        }
        Ok(())
    }

    /// The end of the answer.
    ///
    /// # Errors
    /// It was not whole.
    pub fn finish(self) -> Result<ListMeta, BadAnswer> {
        match self.meta {
            Some(meta) if !self.frames.is_within() => Ok(meta),
            _ => Err(BadAnswer::Truncated),
        }
    }
}

/// One event of a watch. An object's version is what the server sent, to be kept whatever becomes of the object.
#[derive(Clone, Debug)]
pub enum WatchEvent<K> {
    /// The object is there, for the first time as far as this watch goes.
    Added(K, ResourceVersion),
    /// The object was changed.
    Modified(K, ResourceVersion),
    /// The object is gone; its last state, with the version of the deletion.
    Deleted(K, ResourceVersion),
    /// Nothing else happened up to this version.
    Bookmark {
        /// How far the watch is.
        version: ResourceVersion,
        /// All that was there when the watch began has been told.
        ends_initial_events: bool,
    },
    /// The watch failed.
    Error(Box<Status>),
    /// A type of event that is not known here.
    Unknown(String),
}

/// Decodes a watch while its bytes come.
///
/// It promises:
/// - an event comes out as soon as its last byte came in;
/// - an event that was cut short is not told;
/// - a plain `Status`, which something in the way may answer with, is told as an error.
#[derive(Debug)]
pub struct WatchDecoder<K> {
    frames: Frames,
    kind: PhantomData<fn() -> K>,
}

impl<K: ApiObject> WatchDecoder<K> {
    /// Of one answer.
    pub fn new(managed_fields: ManagedFields) -> Self {
        let frames = Frames::new(Shape::Events, managed_fields == ManagedFields::Kept);
        WatchDecoder { frames, kind: PhantomData }
    }

    /// Takes bytes up to the end of an event and gives that; `None` if all were taken.
    ///
    /// # Errors
    /// This is no event, or not of this kind.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Result<Option<WatchEvent<K>>, BadAnswer> {
        while let Some(found) = self.frames.next(bytes)? {
            if found == Found::Around {
                return event(self.frames.around(), self.frames.object()).map(Some);
            }
        }
        Ok(None)
    }
}

/// Reads what is around the object, then the object as that says.
fn event<K: ApiObject>(around: &[u8], object: &[u8]) -> Result<WatchEvent<K>, BadAnswer> {
    let typed = match serde_json::from_slice::<Typed<'_>>(around)? {
        Typed { r#type: Some(typed), .. } => typed,
        Typed { kind: Some("Status"), .. } => return Ok(WatchEvent::Error(Box::new(serde_json::from_slice(around)?))),
        _ => return Err(BadAnswer::NoObjects),
    };
    Ok(match typed {
        "ADDED" => object_event(object, WatchEvent::Added)?,
        "MODIFIED" => object_event(object, WatchEvent::Modified)?,
        "DELETED" => object_event(object, WatchEvent::Deleted)?,
        "BOOKMARK" => serde_json::from_slice::<Bookmark>(object)?.into(),
        "ERROR" => WatchEvent::Error(Box::new(serde_json::from_slice(object)?)),
        unknown => WatchEvent::Unknown(unknown.to_owned()),
    })
}

fn object_event<K: ApiObject>(
    object: &[u8],
    event: impl FnOnce(K, ResourceVersion) -> WatchEvent<K>,
) -> Result<WatchEvent<K>, BadAnswer> {
    let object: K = read(object)?;
    let version = ResourceVersion::new(object.meta().resource_version.as_deref().unwrap_or_default());
    Ok(event(object, version))
}

/// An event without its object. The names of types need no escapes.
#[derive(Deserialize)]
struct Typed<'a> {
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
        WatchEvent::Bookmark { version, ends_initial_events: ends }
    }
}

/// A list without its objects. Neither part may be missing: what is no list must not pass for an empty one.
#[derive(Deserialize)]
struct Around {
    metadata: RawListMeta,
    /// Go writes an empty list as `null`.
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
        ListMeta { version: meta.resource_version, continue_token, sharded: meta.shard_info.is_some() }
    }
}
