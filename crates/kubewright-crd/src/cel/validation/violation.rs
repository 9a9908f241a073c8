//! An object that violates a rule.

use serde_json::Value;

/// The `reason` of a cause in the `Status` of a rejected object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViolationReason {
    /// `FieldValueInvalid`.
    Invalid,
    /// `FieldValueForbidden`.
    Forbidden,
    /// `FieldValueRequired`.
    Required,
    /// `FieldValueDuplicate`.
    Duplicate,
}

impl ViolationReason {
    /// The name in the `Status`.
    pub fn name(self) -> &'static str {
        match self {
            ViolationReason::Invalid => "FieldValueInvalid",
            ViolationReason::Forbidden => "FieldValueForbidden",
            ViolationReason::Required => "FieldValueRequired",
            ViolationReason::Duplicate => "FieldValueDuplicate",
        }
    }
}

/// A rule that an object violates, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The field, such as `spec.items[0].name`; empty for the object itself, for which the server writes `<nil>`.
    pub path: String,
    /// Why the object is rejected.
    pub reason: ViolationReason,
    /// The value in the server's message; `None` if the message omits it.
    pub value: Option<Value>,
    /// The message of the rule.
    pub detail: String,
}

impl Violation {
    /// The `message` of the cause in the `Status`.
    pub fn message(&self) -> String {
        let value = self.value.as_ref().map(|value| format!("{}: ", format_value(value))).unwrap_or_default();
        match self.reason {
            ViolationReason::Invalid => format!("Invalid value: {value}{}", self.detail),
            ViolationReason::Forbidden => format!("Forbidden: {}", self.detail),
            ViolationReason::Required => format!("Required value: {}", self.detail),
            ViolationReason::Duplicate => self
                .value
                .as_ref()
                .map_or("Duplicate value".to_owned(), |value| format!("Duplicate value: {}", format_value(value))),
        }
    }
}

fn format_value(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        other => other.to_string(),
    }
}
