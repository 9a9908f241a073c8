//! Request bodies: the fields of an object, decoded from JSON, YAML or protobuf.

use std::borrow::Cow;

use logger_crd::value::json_type;
use serde_json::{Map, Value};
use serde_saphyr::Options;

use crate::{
    api::error::{ApiError, MEDIA_TYPES, Result},
    wire::{
        duplicate_fields,
        protobuf::{self, Envelope},
    },
};

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";

/// The number of bytes of a body that an error shows.
const SHOWN: usize = 30;

/// The error of a body that is not an object.
#[derive(Debug, PartialEq)]
pub(crate) enum Mistake {
    /// The type cannot be decoded.
    Unrecognized(String),
    /// The content does not match the type.
    Unreadable(String),
}

impl Mistake {
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Unrecognized(why) | Self::Unreadable(why) => why,
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

/// The fields of an object, and the errors of strict decoding.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    pub(crate) fields: Map<String, Value>,
    /// The errors that strict decoding reports.
    pub(crate) mistakes: Vec<String>,
}

/// Decodes the fields of an object. A missing type is set to the given one; the caller rejects other types.
pub(crate) fn fields(content_type: &str, body: &[u8], api_version: &str, kind: &str) -> Result<Fields, Mistake> {
    let read = match content_type {
        protobuf::MEDIA_TYPE => {
            let envelope = Envelope::open(body).map_err(Mistake::Unrecognized)?;
            let fields = envelope.fields(api_version, kind).map_err(Mistake::Unreadable)?;
            return Ok(Fields { fields, mistakes: Vec::new() });
        }
        YAML => duplicate_fields::yaml(body, Options::default()).map_err(unparsable)?,
        _ => duplicate_fields::json(body).map_err(|error| unparsable(in_words_of_go(&error)))?,
    };
    match read.value {
        Value::Object(fields) => Ok(Fields { fields, mistakes: read.mistakes }),
        other => Err(unparsable(not_an_object(&other))),
    }
}

fn unparsable(why: impl std::fmt::Display) -> Mistake {
    Mistake::Unrecognized(format!("couldn't get version/kind; json parse error: {why}"))
}

fn not_an_object(value: &Value) -> String {
    let into = r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;
    format!("json: cannot unmarshal {} into Go value of type {into}", json_type(value))
}

/// Returns Go's text for a JSON syntax error.
pub(crate) fn in_words_of_go(error: &serde_json::Error) -> String {
    if error.is_eof() { "unexpected end of JSON input".to_owned() } else { error.to_string() }
}

/// The error of a body without a recognizable type.
pub(crate) fn unrecognized(expected: &str, why: &str, body: &[u8]) -> ApiError {
    let shown = body.get(..SHOWN).unwrap_or(body);
    // Go shows a body that does not start as an object in hexadecimal.
    let text = match body.first() {
        None => Cow::Borrowed("<empty>"),
        Some(b'{') => String::from_utf8_lossy(shown),
        Some(_) => shown.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    let more = if shown.len() < body.len() { " ..." } else { "" };
    ApiError::bad_request(format!(
        "the object provided is unrecognized (must be of type {expected}): {why} ({text}{more})"
    ))
}
