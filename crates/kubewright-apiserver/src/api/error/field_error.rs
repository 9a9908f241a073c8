//! Validation errors of single fields, with the texts of kube-apiserver.

use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::StatusCause;
use kubewright_crd::field;

/// One validation error at one field (apimachinery's `field.Error`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FieldError {
    reason: &'static str,
    field: String,
    message: String,
}

impl From<field::FieldError> for FieldError {
    fn from(error: field::FieldError) -> Self {
        let message = error.message();
        Self::new(error.error_type.cause_type(), error.field, message)
    }
}

impl FieldError {
    pub(crate) fn invalid(field: impl Into<String>, value: impl fmt::Display, detail: impl fmt::Display) -> Self {
        Self::new("FieldValueInvalid", field, format!("Invalid value: {value}: {detail}"))
    }

    pub(crate) fn required(field: impl Into<String>, detail: &str) -> Self {
        let message = if detail.is_empty() { "Required value".to_owned() } else { format!("Required value: {detail}") };
        Self::new("FieldValueRequired", field, message)
    }

    pub(crate) fn unsupported(field: impl Into<String>, value: impl fmt::Display, supported: &[String]) -> Self {
        let supported: Vec<String> = supported.iter().map(|value| format!("{value:?}")).collect();
        let message = format!("Unsupported value: {value}: supported values: {}", supported.join(", "));
        Self::new("FieldValueNotSupported", field, message)
    }

    pub(crate) fn duplicate(field: impl Into<String>, value: impl fmt::Display) -> Self {
        Self::new("FieldValueDuplicate", field, format!("Duplicate value: {value}"))
    }

    pub(crate) fn not_found(field: impl Into<String>, value: impl fmt::Display) -> Self {
        Self::new("FieldValueNotFound", field, format!("Not found: {value}"))
    }

    pub(crate) fn too_long(field: impl Into<String>, max_length: usize) -> Self {
        let unit = if max_length == 1 { "byte" } else { "bytes" };
        Self::new("FieldValueTooLong", field, format!("Too long: may not be more than {max_length} {unit}"))
    }

    pub(crate) fn forbidden(field: impl Into<String>, detail: impl fmt::Display) -> Self {
        Self::new("FieldValueForbidden", field, format!("Forbidden: {detail}"))
    }

    fn new(reason: &'static str, field: impl Into<String>, message: String) -> Self {
        Self { reason, field: field.into(), message }
    }

    pub(crate) fn field(&self) -> &str {
        &self.field
    }

    /// Returns whether a required value is missing.
    pub(crate) fn is_required(&self) -> bool {
        self.reason == "FieldValueRequired"
    }

    /// Returns whether the error prevents the evaluation of CEL rules.
    pub(crate) fn blocks_rules(&self) -> bool {
        const BLOCKING: [&str; 3] = ["FieldValueRequired", "FieldValueNotSupported", "FieldValueTooLong"];
        BLOCKING.contains(&self.reason)
    }

    /// Returns the error as a cause of a `Status`. An error of the complete object has no field.
    pub(crate) fn cause(&self) -> StatusCause {
        StatusCause {
            field: Some(self.field.clone()).filter(|field| !field.is_empty()),
            message: Some(self.message.clone()),
            reason: Some(self.reason.to_owned()),
        }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}
