//! Field values with their paths, for validation.

use serde_json::Value;

use crate::api::{error::FieldError, object::Object};

/// The validation errors so far.
pub(super) type Errors = Vec<FieldError>;

/// The value of a field with its path, formatted as in errors: `spec.ports[0].port`.
#[derive(Debug, Clone)]
pub(super) struct FieldValue<'a> {
    pub(super) path: String,
    pub(super) value: &'a Value,
}

impl<'a> FieldValue<'a> {
    /// Returns a field of the root.
    pub(super) fn new(object: &'a Object, name: &str) -> Self {
        Self { path: name.to_owned(), value: object.body.get(name).unwrap_or(&Value::Null) }
    }

    /// Returns a field. A missing field is null.
    pub(super) fn at(&self, name: &str) -> Self {
        Self { path: format!("{}.{name}", self.path), value: &self.value[name] }
    }

    /// Returns the items of a list, or none for other values.
    pub(super) fn items(&self) -> impl Iterator<Item = Self> + use<'a> {
        let path = self.path.clone();
        let items = self.value.as_array().into_iter().flatten().enumerate();
        items.map(move |(index, value)| Self { path: format!("{path}[{index}]"), value })
    }

    /// Returns the entries of a map with paths such as `data[key]`, or none for other values.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a str, Self)> + use<'a> {
        let path = self.path.clone();
        let entries = self.value.as_object().into_iter().flatten();
        entries.map(move |(key, value)| (key.as_str(), Self { path: format!("{path}[{key}]"), value }))
    }

    /// Returns the string, or an empty one for other values.
    pub(super) fn text(&self) -> &'a str {
        self.value.as_str().unwrap_or_default()
    }

    /// Returns whether the value is not null. It can be empty.
    pub(super) fn is_set(&self) -> bool {
        !self.value.is_null()
    }

    /// Returns whether the value is null or empty.
    pub(super) fn is_empty(&self) -> bool {
        match self.value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            Value::Bool(_) | Value::Number(_) => false,
        }
    }

    pub(super) fn required(&self, detail: &str) -> FieldError {
        FieldError::required(&self.path, detail)
    }

    pub(super) fn invalid(&self, detail: impl std::fmt::Display) -> FieldError {
        FieldError::invalid(&self.path, self.value, detail)
    }

    /// Returns the error `Invalid value` of a string field. A missing value is shown as the empty string.
    pub(super) fn invalid_text(&self, detail: impl std::fmt::Display) -> FieldError {
        FieldError::invalid(&self.path, format!("{:?}", self.text()), detail)
    }

    pub(super) fn forbidden(&self, detail: impl std::fmt::Display) -> FieldError {
        FieldError::forbidden(&self.path, detail)
    }

    pub(super) fn duplicate(&self, shown: impl std::fmt::Display) -> FieldError {
        FieldError::duplicate(&self.path, shown)
    }

    pub(super) fn unsupported(&self, supported: &[&str]) -> FieldError {
        let shown = format!("{:?}", self.text());
        FieldError::unsupported(&self.path, shown, &supported.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    /// Returns the error `Not found`.
    pub(super) fn not_found(&self) -> FieldError {
        FieldError::not_found(&self.path, self.value)
    }

    /// Returns an error if the value is a negative number.
    pub(super) fn not_negative(&self) -> Option<FieldError> {
        self.at_least(0)
    }

    /// Returns an error if the value is a number below the minimum.
    pub(super) fn at_least(&self, min: i64) -> Option<FieldError> {
        self.value.as_i64().filter(|number| *number < min)?;
        Some(self.invalid(format!("must be greater than or equal to {min}")))
    }

    /// Returns the errors of a validation function for the string, unless it is empty.
    pub(super) fn validate(&self, validation: fn(&str) -> Vec<String>) -> Errors {
        if self.is_empty() {
            Vec::new()
        } else {
            validation(self.text()).into_iter().map(|detail| self.invalid_text(detail)).collect()
        }
    }
}
