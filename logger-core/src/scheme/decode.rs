//! From text to the registered types: JSON, YAML and lists of mixed kinds.

use std::error::Error;
use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ListMeta;
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::value::RawValue;

use super::{Scheme, yaml};
use crate::dynamic::{DynamicObject, MixedList, TypeMeta};
use crate::group_version::GroupVersionKind;
use crate::object::Object;

/// What becomes of an object whose kind is not registered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownKinds {
    /// It is an error.
    #[default]
    Refuse,
    /// It is decoded as a [`DynamicObject`], with everything it says.
    Keep,
}

/// How many lists of mixed kinds may be in one another; each is read once more for every list around it.
const MAX_DEPTH: usize = 8;

/// Decodes with a scheme.
#[derive(Clone, Copy, Debug)]
pub struct Decoder<'a> {
    pub(super) scheme: &'a Scheme,
    pub(super) unknown: UnknownKinds,
}

impl Decoder<'_> {
    /// Decodes a JSON object into the type registered for its `apiVersion` and `kind`; a `v1` `List` of any kinds into a
    /// [`MixedList`].
    ///
    /// # Errors
    /// The text is no JSON object with both fields, their kind is unknown and refused, or the type refuses the rest.
    pub fn decode(&self, json: &[u8]) -> Result<Box<dyn Object>, DecodeError> {
        self.object(json, 0).map_err(|failure| failure.error)
    }

    /// Decodes the one YAML document of a text, likewise.
    ///
    /// # Errors
    /// As of [`decode`](Decoder::decode), or there is not exactly one document.
    pub fn decode_yaml(&self, text: &str) -> Result<Box<dyn Object>, DocumentError> {
        let mut only = None;
        for document in yaml::documents(text) {
            let Some(object) = self.document(&document)? else {
                continue;
            };
            if only.replace(object).is_some() {
                let (document, line) = (document.number, document.first_line);
                return Err(DocumentError { document, line, cause: DecodeError::Several });
            }
        }
        only.ok_or(DocumentError { document: 1, line: 1, cause: DecodeError::Empty })
    }

    /// Decodes every document of a YAML text that is not empty, in order.
    ///
    /// # Errors
    /// What is wrong with each document that cannot be decoded.
    pub fn decode_all(&self, text: &str) -> Result<Vec<Box<dyn Object>>, DecodeErrors> {
        let (mut objects, mut errors) = (Vec::new(), Vec::new());
        for document in yaml::documents(text) {
            match self.document(&document) {
                Ok(object) => objects.extend(object),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(objects) } else { Err(DecodeErrors(errors)) }
    }

    /// The object of a document; `None` of an empty one.
    fn document(&self, document: &yaml::Document<'_>) -> Result<Option<Box<dyn Object>>, DocumentError> {
        let refused = |(line, cause)| DocumentError { document: document.number, line, cause };
        let Some(json) = document.to_json().map_err(refused)? else {
            return Ok(None);
        };
        let object = self.object(json.text.as_bytes(), 0);
        object.map(Some).map_err(|Failure { at, error }| refused((json.line_of(at), error.without_position())))
    }

    /// An object, in so many lists of mixed kinds.
    fn object(&self, json: &[u8], depth: usize) -> Result<Box<dyn Object>, Failure> {
        let untyped = |source| Failure { at: bytes_before(json, &source), error: DecodeError::Untyped(source) };
        let head: TypeMeta = serde_json::from_slice(json).map_err(untyped)?;
        let gvk = head.group_version_kind();
        let malformed = |source| Failure::malformed(json, &gvk, source);
        match (self.scheme.types.get(&gvk), self.unknown) {
            (Some(entry), _) => (entry.decode)(json).map_err(malformed),
            (None, _) if gvk == MixedList::GVK && depth < MAX_DEPTH => self.list(json, depth),
            (None, _) if gvk == MixedList::GVK => Err(malformed(serde_json::Error::custom("lists in lists, too deep"))),
            (None, UnknownKinds::Keep) => super::decode::<DynamicObject>(json).map_err(malformed),
            (None, UnknownKinds::Refuse) => Err(Failure { at: 1, error: DecodeError::Unknown(gvk) }),
        }
    }

    /// A list of mixed kinds, each item as what it is.
    fn list(&self, json: &[u8], depth: usize) -> Result<Box<dyn Object>, Failure> {
        let malformed = |source| Failure::malformed(json, &MixedList::GVK, source);
        let RawList { metadata, items } = serde_json::from_slice(json).map_err(malformed)?;
        let item = |(index, item): (usize, &RawValue)| {
            let start = item.get().as_ptr().addr() - json.as_ptr().addr();
            self.object(item.get().as_bytes(), depth + 1).map_err(|Failure { at, error }| {
                let source = Box::new(error.without_position());
                Failure { at: start + at, error: DecodeError::Item { index, source } }
            })
        };
        let items = items.into_iter().enumerate().map(item).collect::<Result<_, _>>()?;
        Ok(Box::new(MixedList { metadata, items }))
    }
}

#[derive(Deserialize)]
struct RawList<'a> {
    #[serde(default)]
    metadata: ListMeta,
    #[serde(borrow, default)]
    items: Vec<&'a RawValue>,
}

/// An error, and how many bytes of the JSON were read when it was found.
struct Failure {
    at: usize,
    error: DecodeError,
}

impl Failure {
    fn malformed(json: &[u8], gvk: &GroupVersionKind, source: serde_json::Error) -> Self {
        Failure { at: bytes_before(json, &source), error: DecodeError::Malformed { gvk: gvk.clone(), source } }
    }
}

fn bytes_before(json: &[u8], error: &serde_json::Error) -> usize {
    let lines = json.split_inclusive(|byte| *byte == b'\n').take(error.line().saturating_sub(1));
    lines.map(<[u8]>::len).sum::<usize>() + error.column()
}

/// Why an object could not be decoded.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// Not an object with `apiVersion` and `kind`.
    #[error("not a Kubernetes object: an object with apiVersion and kind is expected")]
    Untyped(#[source] serde_json::Error),
    /// No type is registered for it.
    #[error("no type is registered for {0}; add its group with its add_to_scheme")]
    Unknown(GroupVersionKind),
    /// The registered type does not accept it.
    #[error("not a valid {gvk}")]
    Malformed {
        /// What it claims to be.
        gvk: GroupVersionKind,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// An item of a list of mixed kinds cannot be decoded.
    #[error("items[{index}]")]
    Item {
        /// Which item, from 0.
        index: usize,
        /// What is wrong with it.
        source: Box<DecodeError>,
    },
    /// Not YAML, or more of it than is read: nested too deep, or aliases that stand for too much.
    #[error("{0}")]
    Yaml(String),
    /// One document was expected, and there is none.
    #[error("expected an object, found nothing")]
    Empty,
    /// One document was expected, and there are more.
    #[error("expected one document, found another; `decode_all` reads many")]
    Several,
}

impl DecodeError {
    /// Without the position in a JSON text that the user did not write.
    fn without_position(self) -> Self {
        let unplaced = |error: serde_json::Error| {
            let text = error.to_string();
            serde_json::Error::custom(text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message))
        };
        match self {
            DecodeError::Untyped(source) => DecodeError::Untyped(unplaced(source)),
            DecodeError::Malformed { gvk, source } => DecodeError::Malformed { gvk, source: unplaced(source) },
            other => other,
        }
    }
}

/// Why a document could not be decoded, and where it is.
#[derive(Debug)]
pub struct DocumentError {
    /// Which document, from 1. Empty ones count.
    pub document: usize,
    /// The line of the text, from 1.
    pub line: usize,
    /// What is wrong.
    pub cause: DecodeError,
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "document {}, line {}: {}", self.document, self.line, self.cause)?;
        let mut cause: &dyn Error = &self.cause;
        while let Some(source) = cause.source() {
            write!(f, ": {source}")?;
            cause = source;
        }
        Ok(())
    }
}

impl Error for DocumentError {}

/// What is wrong with the documents of a text, a line each.
#[derive(Debug)]
pub struct DecodeErrors(pub Vec<DocumentError>);

impl fmt::Display for DecodeErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&errors.join("\n"))
    }
}

impl Error for DecodeErrors {}
