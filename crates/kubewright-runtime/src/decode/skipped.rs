//! Objects that cannot be decoded: their identity and the error.

use serde::Deserialize;

use super::{DecodeError, field_path::field_path, truncated};
use crate::{
    error::{ObjectError, UserCodePanicked},
    object::{ObjectKey, ResourceVersion},
};

/// An object of a list or watch that cannot be used.
#[derive(Clone, Debug)]
pub struct SkippedObject {
    /// The key of the object.
    pub key: ObjectKey,
    /// The UID of the object, if it has one.
    pub uid: Option<String>,
    /// The resource version of the object; empty if it has none.
    pub version: ResourceVersion,
    /// The reason.
    pub error: ObjectError,
}

impl SkippedObject {
    /// Creates the result of a failed deserialization.
    pub(super) fn malformed(json: &str, error: &serde_json::Error) -> Result<Box<Self>, DecodeError> {
        let message = truncated(error.to_string());
        let field = truncated(field_path(json, error.line(), error.column()));
        Self::identify(json, &message, |object| ObjectError::Decode { object, field, message: message.clone() })
    }

    /// Creates the result of a panic in an implementation of `Deserialize`.
    pub(super) fn panicked(json: &str, message: String) -> Result<Box<Self>, DecodeError> {
        let text = format!("`Deserialize` panicked: {message}");
        Self::identify(json, &text, |key| UserCodePanicked::new("`Deserialize`", Some(key), message).into())
    }

    /// Reads the identity of an object. Without a name, the error is that of the complete response.
    fn identify(
        json: &str,
        message: &str,
        error: impl FnOnce(ObjectKey) -> ObjectError,
    ) -> Result<Box<Self>, DecodeError> {
        let Ok(Identified { metadata }) = serde_json::from_str::<Identified>(json) else {
            return Err(DecodeError::Deserialize(message.to_owned()));
        };
        let key = ObjectKey::namespaced(metadata.namespace.as_deref().unwrap_or_default(), &metadata.name);
        let version = ResourceVersion::new(metadata.resource_version.as_deref().unwrap_or_default());
        Ok(Box::new(SkippedObject { error: error(key.clone()), key, uid: metadata.uid, version }))
    }
}

#[derive(Deserialize)]
struct Identified {
    metadata: Identity,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Identity {
    namespace: Option<String>,
    name: String,
    uid: Option<String>,
    resource_version: Option<String>,
}
