//! What is wrong at one field, worded as the API server words it.

use std::fmt;

use serde_json::Value;

use crate::go;

/// One broken rule, at one field; or one warning.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The server's path of the field: `spec.validation.openAPIV3Schema.properties[spec].type`. Empty for warnings.
    pub path: String,
    /// What kind of mistake it is.
    pub reason: Reason,
    /// The value that is wrong, where the text shows one.
    pub bad_value: Option<Value>,
    /// What is wrong with it; may be empty.
    pub detail: String,
    /// The value as the text shows it, where that is not the JSON of `bad_value`.
    shown: Option<String>,
    schema: Option<(usize, Vec<String>)>,
}

/// The kinds of mistakes, as a `Status` names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// A field that must be there is not.
    Required,
    /// A value that breaks a rule.
    Invalid,
    /// A value of another type than its schema says.
    TypeInvalid,
    /// A value that is none of those it may be.
    NotSupported,
    /// A field that must not be there.
    Forbidden,
    /// A text with too many characters.
    TooLong,
    /// A list or a map with too many items.
    TooMany,
    /// A value that is there already.
    Duplicate,
    /// Something the server cannot say more of.
    Internal,
    /// The body is not of its type, and refused before any rule is looked at.
    Undecodable,
    /// What the server takes, but answers a `Warning` header to.
    Warning,
}

impl Reason {
    /// The `reason` of a cause in a `Status`; empty for what is no cause.
    #[must_use]
    pub fn name(self) -> &'static str {
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
            Self::Undecodable | Self::Warning => "",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Required => "Required value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
            Self::Duplicate => "Duplicate value",
            Self::Internal => "Internal error",
            Self::Undecodable => "Bad request",
            Self::Warning => "Warning",
        }
    }
}

impl Finding {
    pub(crate) fn new(
        at: impl Into<Place>,
        reason: Reason,
        bad_value: Option<Value>,
        detail: impl Into<String>,
    ) -> Self {
        let Place { path, schema } = at.into();
        Self { path, reason, bad_value, detail: detail.into(), shown: None, schema }
    }

    pub(crate) fn required(at: impl Into<Place>, detail: impl Into<String>) -> Self {
        Self::new(at, Reason::Required, None, detail)
    }

    pub(crate) fn forbidden(at: impl Into<Place>, detail: impl Into<String>) -> Self {
        Self::new(at, Reason::Forbidden, None, detail)
    }

    pub(crate) fn invalid(at: impl Into<Place>, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self::new(at, Reason::Invalid, Some(value.into()), detail)
    }

    pub(crate) fn type_invalid(at: impl Into<Place>, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self::new(at, Reason::TypeInvalid, Some(value.into()), detail)
    }

    pub(crate) fn duplicate(at: impl Into<Place>, value: impl Into<Value>) -> Self {
        Self::new(at, Reason::Duplicate, Some(value.into()), "")
    }

    pub(crate) fn not_supported<'a>(
        at: impl Into<Place>,
        value: impl Into<Value>,
        supported: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let supported: Vec<String> = supported.into_iter().map(go::quoted).collect();
        let detail =
            if supported.is_empty() { String::new() } else { format!("supported values: {}", supported.join(", ")) };
        Self::new(at, Reason::NotSupported, Some(value.into()), detail)
    }

    pub(crate) fn too_long(at: impl Into<Place>, most: i64) -> Self {
        let detail = match most {
            ..=-1 => "value is too long".to_owned(),
            1 => "may not be more than 1 byte".to_owned(),
            _ => format!("may not be more than {most} bytes"),
        };
        Self::new(at, Reason::TooLong, None, detail)
    }

    pub(crate) fn too_many(at: impl Into<Place>, found: i64, most: i64) -> Self {
        let detail = match most {
            ..=-1 => "has too many items".to_owned(),
            1 => "must have at most 1 item".to_owned(),
            _ => format!("must have at most {most} items"),
        };
        Self::new(at, Reason::TooMany, Some(found.into()), detail)
    }

    pub(crate) fn warning(text: impl Into<String>) -> Self {
        Self::new(String::new(), Reason::Warning, None, text)
    }

    /// As it is, but its value shown so.
    pub(crate) fn showing(mut self, shown: String) -> Self {
        self.shown = Some(shown);
        self
    }

    /// As it is, but of this place in a schema, or of something in the value there.
    pub(crate) fn within(mut self, at: impl Into<Place>) -> Self {
        self.schema = at.into().schema;
        self
    }

    /// Where in a version's schema it is: the version's index, and the way from `openAPIV3Schema` in keywords, names
    /// and indexes (`["properties", "spec", "type"]`). A schema that all versions share is that of version 0.
    #[must_use]
    pub fn schema_path(&self) -> Option<(usize, &[String])> {
        self.schema.as_ref().map(|(version, path)| (*version, path.as_slice()))
    }

    /// Whether the server refuses it, and does not only warn.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        self.reason != Reason::Warning
    }

    /// The `message` of a cause in a `Status`: all but the path.
    #[must_use]
    pub fn message(&self) -> String {
        let label = self.reason.label();
        let mut text = match (&self.shown, &self.bad_value) {
            (Some(shown), _) => format!("{label}: {shown}"),
            (None, None) => label.to_owned(),
            (None, Some(value)) => format!("{label}: {}", shown(value)),
        };
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }
}

/// Texts are quoted, numbers bare, all else is JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => go::quoted(text),
        Value::Number(_) => go::plain(value),
        other => go::json(other),
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason {
            Reason::Warning | Reason::Undecodable => f.write_str(&self.detail),
            _ => write!(f, "{}: {}", self.path, self.message()),
        }
    }
}

/// A path that is written, and where in a schema it leads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    pub(crate) path: String,
    pub(crate) schema: Option<(usize, Vec<String>)>,
}

impl From<String> for Place {
    fn from(path: String) -> Self {
        Self { path, schema: None }
    }
}

impl From<&str> for Place {
    fn from(path: &str) -> Self {
        path.to_owned().into()
    }
}
