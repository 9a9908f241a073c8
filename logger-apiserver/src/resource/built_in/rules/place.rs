//! A value in an object, with its path, for validation.

use serde_json::Value;

use crate::api::{error::FieldError, object::Object};

/// The broken rules found so far.
pub(crate) type Errors = Vec<FieldError>;

/// A value and its path, formatted as in errors: `spec.ports[0].port`.
#[derive(Debug, Clone)]
pub(super) struct Place<'a> {
    pub(super) path: String,
    pub(super) value: &'a Value,
}

impl<'a> Place<'a> {
    /// A field of the root.
    pub(super) fn of(object: &'a Object, name: &str) -> Self {
        Self { path: name.to_owned(), value: object.body.get(name).unwrap_or(&Value::Null) }
    }

    /// A field, which may be missing.
    pub(super) fn at(&self, name: &str) -> Self {
        Self { path: format!("{}.{name}", self.path), value: &self.value[name] }
    }

    /// The items of a list; none, if it is no list.
    pub(super) fn items(&self) -> impl Iterator<Item = Self> + use<'a> {
        let path = self.path.clone();
        let items = self.value.as_array().into_iter().flatten().enumerate();
        items.map(move |(index, value)| Self { path: format!("{path}[{index}]"), value })
    }

    /// The entries of a map by their keys, with paths as `data[key]`; none, if it is no map.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a str, Self)> + use<'a> {
        let path = self.path.clone();
        let entries = self.value.as_object().into_iter().flatten();
        entries.map(move |(key, value)| (key.as_str(), Self { path: format!("{path}[{key}]"), value }))
    }

    /// The text there; empty, if there is none.
    pub(super) fn text(&self) -> &'a str {
        self.value.as_str().unwrap_or_default()
    }

    /// Whether there is something, be it empty.
    pub(super) fn is_there(&self) -> bool {
        !self.value.is_null()
    }

    /// Whether Go would say that nothing is there.
    pub(super) fn is_empty(&self) -> bool {
        match self.value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            Value::Bool(_) | Value::Number(_) => false,
        }
    }

    pub(super) fn required(&self, why: &str) -> FieldError {
        FieldError::required(&self.path, why)
    }

    pub(super) fn invalid(&self, why: impl std::fmt::Display) -> FieldError {
        FieldError::invalid(&self.path, self.value, why)
    }

    /// Of a text: one that is not there is shown as an empty one.
    pub(super) fn invalid_text(&self, why: impl std::fmt::Display) -> FieldError {
        FieldError::invalid(&self.path, format!("{:?}", self.text()), why)
    }

    pub(super) fn forbidden(&self, why: impl std::fmt::Display) -> FieldError {
        FieldError::forbidden(&self.path, why)
    }

    pub(super) fn duplicate(&self, shown: impl std::fmt::Display) -> FieldError {
        FieldError::duplicate(&self.path, shown)
    }

    pub(super) fn unsupported(&self, supported: &[&str]) -> FieldError {
        let shown = format!("{:?}", self.text());
        FieldError::unsupported(&self.path, shown, &supported.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    /// What is named there is not.
    pub(super) fn not_found(&self) -> FieldError {
        FieldError::not_found(&self.path, self.value)
    }

    /// Whether a number there is not below zero.
    pub(super) fn not_negative(&self) -> Option<FieldError> {
        self.at_least(0)
    }

    /// Whether a number there is not below another.
    pub(super) fn at_least(&self, least: i64) -> Option<FieldError> {
        self.value.as_i64().filter(|number| *number < least)?;
        Some(self.invalid(format!("must be greater than or equal to {least}")))
    }

    /// Returns the errors of the string at this path, if there is one.
    pub(super) fn mistakes(&self, of: fn(&str) -> Vec<String>) -> Errors {
        if self.is_empty() {
            Vec::new()
        } else {
            of(self.text()).into_iter().map(|why| self.invalid_text(why)).collect()
        }
    }
}
