//! Decodes JSON, YAML and lists of mixed kinds into the registered types.

use std::{error::Error, fmt};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ListMeta;
use serde::{Deserialize, de::Error as _};
use serde_json::value::RawValue;

use super::{Scheme, yaml};
use crate::{
    group_version::GroupVersionKind,
    object::Object,
    unstructured::{MixedList, TypeMeta, Unstructured},
};

/// The policy for objects of kinds that are not registered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownKinds {
    /// An unknown kind is an error.
    #[default]
    Reject,
    /// An object of an unknown kind is decoded as a [`Unstructured`], which preserves all of its fields.
    Preserve,
}

/// The maximum depth of nested lists of mixed kinds. Each list is parsed again for every list around it.
const MAX_DEPTH: usize = 8;

/// A decoder for the types of a scheme.
#[derive(Clone, Copy, Debug)]
pub struct Decoder<'a> {
    pub(super) scheme: &'a Scheme,
    pub(super) unknown: UnknownKinds,
}

impl Decoder<'_> {
    /// Decodes a JSON object into the type registered for its `apiVersion` and `kind`, and a `v1` `List` of any kinds
    /// into a [`MixedList`].
    ///
    /// # Errors
    /// The input is not a JSON object with both fields, their kind is unknown and rejected, or the type rejects the
    /// object.
    pub fn decode(&self, json: &[u8]) -> Result<Box<dyn Object>, DecodeError> {
        self.object(json, 0).map_err(|failure| failure.error)
    }

    /// Decodes a text with exactly one YAML document, likewise.
    ///
    /// # Errors
    /// Those of [`decode`](Decoder::decode), or the text does not have exactly one document.
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

    /// Decodes all documents of a YAML text in order; empty documents are skipped.
    ///
    /// # Errors
    /// The errors of all documents that cannot be decoded.
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

    /// Decodes the object of a document; `None` for an empty document.
    fn document(&self, document: &yaml::Document<'_>) -> Result<Option<Box<dyn Object>>, DocumentError> {
        let error = |(line, cause)| DocumentError { document: document.number, line, cause };
        let Some(json) = document.to_json().map_err(error)? else {
            return Ok(None);
        };
        let object = self.object(json.text.as_bytes(), 0);
        object.map(Some).map_err(|failure| error((json.line_of(failure.at), failure.error.without_position())))
    }

    /// Decodes an object that is nested in `depth` lists of mixed kinds.
    fn object(&self, json: &[u8], depth: usize) -> Result<Box<dyn Object>, Failure> {
        let untyped = |source| Failure { at: bytes_before(json, &source), error: DecodeError::Untyped(source) };
        let types: TypeMeta = serde_json::from_slice(json).map_err(untyped)?;
        let gvk = types.group_version_kind();
        let malformed = |source| Failure::malformed(json, &gvk, source);
        match (self.scheme.types.get(&gvk), self.unknown) {
            (Some(entry), _) => (entry.decode)(json).map_err(malformed),
            (None, _) if gvk == MixedList::GVK && depth < MAX_DEPTH => self.list(json, depth),
            (None, _) if gvk == MixedList::GVK => {
                Err(malformed(serde_json::Error::custom("lists are nested too deeply")))
            }
            (None, UnknownKinds::Preserve) => super::decode::<Unstructured>(json).map_err(malformed),
            (None, UnknownKinds::Reject) => Err(Failure { at: 1, error: DecodeError::Unknown(gvk) }),
        }
    }

    /// Decodes a list of mixed kinds, each item into its own type.
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

/// An error, and the number of bytes of the JSON up to it.
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

/// An error of a decoder.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The input is not an object with `apiVersion` and `kind`.
    #[error("not a Kubernetes object: expected an object with apiVersion and kind")]
    Untyped(#[source] serde_json::Error),
    /// No type is registered for the kind.
    #[error("no type is registered for {0}; register its group with add_to_scheme")]
    Unknown(GroupVersionKind),
    /// The registered type rejects the object.
    #[error("invalid {gvk}")]
    Malformed {
        /// The kind of the object.
        gvk: GroupVersionKind,
        /// The error of the type.
        #[source]
        source: serde_json::Error,
    },
    /// An item of a list of mixed kinds cannot be decoded.
    #[error("items[{index}]")]
    Item {
        /// The index of the item.
        index: usize,
        /// The error of the item.
        source: Box<DecodeError>,
    },
    /// The text is not YAML, or exceeds a limit for nesting or for the expansion of aliases.
    #[error("{0}")]
    Yaml(String),
    /// The text has no document.
    #[error("expected one document, found none")]
    Empty,
    /// The text has several documents.
    #[error("expected one document, found several; use `decode_all`")]
    Several,
}

impl DecodeError {
    /// Removes the position in JSON that was converted from the user's YAML.
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

/// An error of a document, with its location.
#[derive(Debug)]
pub struct DocumentError {
    /// The number of the document, from 1, including empty documents.
    pub document: usize,
    /// The line in the text, from 1.
    pub line: usize,
    /// The error.
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

/// The errors of the documents of a text, displayed one per line.
#[derive(Debug)]
pub struct DecodeErrors(pub Vec<DocumentError>);

impl fmt::Display for DecodeErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&errors.join("\n"))
    }
}

impl Error for DecodeErrors {}
