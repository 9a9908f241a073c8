//! A rule that an object breaks, as the server tells it.

use serde_json::Value;

/// Why an object is refused, as the `reason` of a cause in the server's answer.
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
    /// The name in the answer.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ViolationReason::Invalid => "FieldValueInvalid",
            ViolationReason::Forbidden => "FieldValueForbidden",
            ViolationReason::Required => "FieldValueRequired",
            ViolationReason::Duplicate => "FieldValueDuplicate",
        }
    }
}

/// A rule that an object breaks.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The field, such as `spec.items[0].name`; empty for the object itself, which the server calls `<nil>`.
    pub path: String,
    /// Why it is refused.
    pub reason: ViolationReason,
    /// The value the server repeats; `None` where it leaves it out.
    pub value: Option<Value>,
    /// What the rule says.
    pub detail: String,
}

impl Violation {
    /// The message of the cause in the server's answer.
    #[must_use]
    pub fn message(&self) -> String {
        let value = self.value.as_ref().map(|value| format!("{}: ", show(value))).unwrap_or_default();
        match self.reason {
            ViolationReason::Invalid => format!("Invalid value: {value}{}", self.detail),
            ViolationReason::Forbidden => format!("Forbidden: {}", self.detail),
            ViolationReason::Required => format!("Required value: {}", self.detail),
            ViolationReason::Duplicate => self
                .value
                .as_ref()
                .map_or("Duplicate value".to_owned(), |value| format!("Duplicate value: {}", show(value))),
        }
    }
}

fn show(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        other => other.to_string(),
    }
}
