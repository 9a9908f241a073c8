//! Field errors with the messages of the API server: `field.Error` and `field.Path` of apimachinery.

mod list;
mod path;

use std::fmt;

use serde_json::Value;

use crate::go;
pub(crate) use list::{ErrorList, MAX_SIZE, PathList};
pub(crate) use path::Path;

/// The maximum length of a path in an error, in bytes. A longer path is truncated.
pub(crate) const MAX_PATH_LENGTH: usize = 4 << 10;

/// Appends a segment to the path of a value. A long path is truncated, because every value below a long name has it.
pub fn append(path: &str, segment: fmt::Arguments<'_>) -> String {
    if path.len() >= MAX_PATH_LENGTH {
        return path.to_owned();
    }
    let mut appended = format!("{path}{segment}");
    appended.truncate(appended.floor_char_boundary(MAX_PATH_LENGTH));
    appended
}

/// An error or a warning at one field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    /// The path of the field, as in `spec.validation.openAPIV3Schema.properties[spec].type`. Empty for warnings of the
    /// server.
    pub field: String,
    /// The type of the error.
    pub error_type: ErrorType,
    /// The invalid value, if the message shows one.
    pub bad_value: Option<Value>,
    /// What is wrong with the value. Can be empty.
    pub detail: String,
    /// The value as the message shows it, if that is not the JSON of `bad_value`.
    displayed_value: Option<String>,
    schema_path: Option<(usize, Vec<String>)>,
}

/// The type of a field error, as `field.ErrorType` of apimachinery, and of what is reported beside field errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorType {
    /// A required field is missing.
    Required,
    /// A value violates a constraint.
    Invalid,
    /// A value does not have the type of its schema.
    TypeInvalid,
    /// A value is not one of the supported values.
    NotSupported,
    /// A field must not be set.
    Forbidden,
    /// A string has too many characters.
    TooLong,
    /// A list or a map has too many items.
    TooMany,
    /// A value occurs more than once.
    Duplicate,
    /// An internal error of the server.
    Internal,
    /// The body cannot be decoded. The server rejects it before validation.
    BadRequest,
    /// The server accepts the field and answers with a `Warning` header.
    Warning,
}

impl ErrorType {
    /// Returns the `reason` of a cause in a `Status`. Empty for types that are not causes.
    pub fn cause_type(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid => "FieldValueInvalid",
            Self::TypeInvalid => "FieldValueTypeInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Internal => "InternalError",
            Self::BadRequest | Self::Warning => "",
        }
    }
}

impl fmt::Display for ErrorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Required => "Required value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
            Self::Duplicate => "Duplicate value",
            Self::Internal => "Internal error",
            Self::BadRequest => "Bad request",
            Self::Warning => "Warning",
        })
    }
}

impl FieldError {
    /// Creates the error of a field that is not part of a schema.
    pub fn from_field(
        field: impl Into<String>,
        error_type: ErrorType,
        bad_value: Option<Value>,
        detail: impl Into<String>,
    ) -> Self {
        let field: String = field.into();
        Self::new(field, error_type, bad_value, detail)
    }

    pub(crate) fn new(
        at: impl Into<Location>,
        error_type: ErrorType,
        bad_value: Option<Value>,
        detail: impl Into<String>,
    ) -> Self {
        let Location { field, schema_path } = at.into();
        Self { field, error_type, bad_value, detail: detail.into(), displayed_value: None, schema_path }
    }

    pub(crate) fn required(at: impl Into<Location>, detail: impl Into<String>) -> Self {
        Self::new(at, ErrorType::Required, None, detail)
    }

    pub(crate) fn forbidden(at: impl Into<Location>, detail: impl Into<String>) -> Self {
        Self::new(at, ErrorType::Forbidden, None, detail)
    }

    pub(crate) fn invalid(at: impl Into<Location>, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self::new(at, ErrorType::Invalid, Some(value.into()), detail)
    }

    pub(crate) fn type_invalid(at: impl Into<Location>, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self::new(at, ErrorType::TypeInvalid, Some(value.into()), detail)
    }

    pub(crate) fn duplicate(at: impl Into<Location>, value: impl Into<Value>) -> Self {
        Self::new(at, ErrorType::Duplicate, Some(value.into()), "")
    }

    pub(crate) fn not_supported<'a>(
        at: impl Into<Location>,
        value: impl Into<Value>,
        supported: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let supported: Vec<String> = supported.into_iter().map(go::quoted).collect();
        let detail =
            if supported.is_empty() { String::new() } else { format!("supported values: {}", supported.join(", ")) };
        Self::new(at, ErrorType::NotSupported, Some(value.into()), detail)
    }

    pub(crate) fn too_long(at: impl Into<Location>, max_length: i64) -> Self {
        let detail = match max_length {
            ..=-1 => "value is too long".to_owned(),
            1 => "may not be more than 1 byte".to_owned(),
            _ => format!("may not be more than {max_length} bytes"),
        };
        Self::new(at, ErrorType::TooLong, None, detail)
    }

    pub(crate) fn too_many(at: impl Into<Location>, actual: i64, max: i64) -> Self {
        let detail = match max {
            ..=-1 => "has too many items".to_owned(),
            1 => "must have at most 1 item".to_owned(),
            _ => format!("must have at most {max} items"),
        };
        Self::new(at, ErrorType::TooMany, Some(actual.into()), detail)
    }

    pub(crate) fn warning(text: impl Into<String>) -> Self {
        Self::new(String::new(), ErrorType::Warning, None, text)
    }

    /// Sets the text that the message shows in place of the JSON of the value.
    #[must_use]
    pub(crate) fn with_displayed_value(mut self, value: String) -> Self {
        self.displayed_value = Some(value);
        self
    }

    /// Sets the path in the schema to that of a location.
    #[must_use]
    pub(crate) fn with_schema_path_of(mut self, at: impl Into<Location>) -> Self {
        self.schema_path = at.into().schema_path;
        self
    }

    /// Returns the index of the version and the path in its schema, from `openAPIV3Schema` in keywords, names and
    /// indexes: `["properties", "spec", "type"]`. A schema that all versions share is that of version 0.
    pub fn schema_path(&self) -> Option<(usize, &[String])> {
        self.schema_path.as_ref().map(|(version, path)| (*version, path.as_slice()))
    }

    /// Whether the server rejects the request, rather than answering with a warning.
    pub fn is_error(&self) -> bool {
        self.error_type != ErrorType::Warning
    }

    /// Returns the approximate size of the error in bytes.
    pub(crate) fn size(&self) -> usize {
        let value = self.bad_value.as_ref().map_or(0, go::json_size);
        self.field.len() + self.detail.len() + self.displayed_value.as_ref().map_or(0, String::len) + value
    }

    /// Returns the `message` of a cause in a `Status`: the error without its path.
    pub fn message(&self) -> String {
        let error_type = self.error_type;
        let mut text = match (&self.displayed_value, &self.bad_value) {
            (Some(displayed), _) => format!("{error_type}: {displayed}"),
            (None, None) => error_type.to_string(),
            (None, Some(value)) => format!("{error_type}: {}", display(value)),
        };
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }
}

/// Strings are quoted, numbers are plain, other values are JSON.
fn display(value: &Value) -> String {
    match value {
        Value::String(text) => go::quoted(text),
        Value::Number(_) => go::plain(value),
        other => go::json(other),
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.error_type {
            ErrorType::Warning | ErrorType::BadRequest => f.write_str(&self.detail),
            _ => write!(f, "{}: {}", self.field, self.message()),
        }
    }
}

impl std::error::Error for FieldError {}

/// The path of a field, and the path in a schema if the field is part of one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Location {
    pub(crate) field: String,
    pub(crate) schema_path: Option<(usize, Vec<String>)>,
}

impl From<String> for Location {
    fn from(field: String) -> Self {
        Self { field, schema_path: None }
    }
}

impl From<&str> for Location {
    fn from(field: &str) -> Self {
        field.to_owned().into()
    }
}
