//! Request bodies: the fields of an object, decoded from JSON, YAML or protobuf.

use std::borrow::Cow;

use kubewright_crd::value::json_type;
use serde_json::{Map, Value};

use crate::{
    api::{
        depth,
        error::{ApiError, MEDIA_TYPES, Result},
    },
    wire::{
        parse::{self, YamlError},
        protobuf::{self, Envelope},
    },
};

/// The media type of JSON.
pub(crate) const JSON: &str = "application/json";
const YAML: &str = "application/yaml";

/// The maximum number of bytes of a body that an error shows.
const MAX_SHOWN: usize = 30;

/// The error for a body that cannot be decoded as an object.
#[derive(Debug, PartialEq)]
pub(crate) enum DecodeError {
    /// The type of the object cannot be decoded.
    Unrecognized(String),
    /// The content does not match the type of the object.
    Unreadable(String),
}

impl DecodeError {
    pub(crate) fn into_message(self) -> String {
        match self {
            Self::Unrecognized(detail) | Self::Unreadable(detail) => detail,
        }
    }
}

/// Checks the media type: JSON, YAML or, for built-in kinds, protobuf.
pub(crate) fn check_media_type(content_type: &str, is_custom: bool) -> Result<()> {
    match content_type {
        "" | JSON | YAML => Ok(()),
        protobuf::MEDIA_TYPE if !is_custom => Ok(()),
        _ => Err(ApiError::unsupported_media_type(MEDIA_TYPES)),
    }
}

/// Decodes the fields of an object. A missing type is set to the given one; the caller rejects other types.
pub(crate) fn fields(
    content_type: &str,
    body: &[u8],
    api_version: &str,
    kind: &str,
) -> Result<Map<String, Value>, DecodeError> {
    let decoded = match content_type {
        protobuf::MEDIA_TYPE => {
            let envelope = Envelope::open(body).map_err(DecodeError::Unrecognized)?;
            let fields = envelope.fields(api_version, kind).map_err(DecodeError::Unreadable)?;
            if depth::of_fields(&fields) > depth::MAX_DEPTH {
                return Err(DecodeError::Unreadable(format!("exceeded max depth of {}", depth::MAX_DEPTH)));
            }
            return Ok(fields);
        }
        YAML => parse::yaml(body, false).map_err(|error| match error {
            YamlError::ExcessiveAliasing | YamlError::TooDeep => DecodeError::Unrecognized(error.to_string()),
            YamlError::Syntax(detail) => unparsable(detail),
        })?,
        _ => parse::json(body).map_err(|error| unparsable(go_syntax_error(&error)))?,
    };
    object_fields(decoded)
}

fn object_fields(value: Value) -> Result<Map<String, Value>, DecodeError> {
    match value {
        Value::Object(fields) => Ok(fields),
        other => Err(unparsable(not_an_object(&other))),
    }
}

fn unparsable(detail: impl std::fmt::Display) -> DecodeError {
    DecodeError::Unrecognized(format!("couldn't get version/kind; json parse error: {detail}"))
}

fn not_an_object(value: &Value) -> String {
    let into = r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;
    format!("json: cannot unmarshal {} into Go value of type {into}", json_type(value))
}

/// Returns Go's text for a JSON syntax error.
pub(crate) fn go_syntax_error(error: &serde_json::Error) -> String {
    if error.is_eof() { "unexpected end of JSON input".to_owned() } else { error.to_string() }
}

/// Returns the error for a body without a recognizable type.
pub(crate) fn unrecognized(expected: &str, detail: &str, body: &[u8]) -> ApiError {
    let shown = body.get(..MAX_SHOWN).unwrap_or(body);
    // Go formats a body that does not start with `{` as hexadecimal.
    let text = match body.first() {
        None => Cow::Borrowed("<empty>"),
        Some(b'{') => String::from_utf8_lossy(shown),
        Some(_) => shown.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    let more = if shown.len() < body.len() { " ..." } else { "" };
    ApiError::bad_request(format!(
        "the object provided is unrecognized (must be of type {expected}): {detail} ({text}{more})"
    ))
}
