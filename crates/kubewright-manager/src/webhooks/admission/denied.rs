//! Denials: the statuses with which requests are rejected.

use std::{collections::BTreeSet, fmt};

use http::StatusCode;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Status, StatusCause, StatusDetails};
use kubewright_core::{
    description::KindDescription,
    validation::{FieldError, Invalid},
};

use crate::webhooks::wire;

/// Why a request is denied. The API server shows the message to the user, after the name of the webhook.
///
/// | constructor | code | for |
/// |---|---|---|
/// | [`invalid`](Self::invalid) | 422 | invalid fields: each is a cause of the status |
/// | [`forbidden`](Self::forbidden) | 403 | whatever else the rules do not permit |
/// | [`internal`](Self::internal) | 500 | rules that cannot be evaluated |
/// | [`status`](Self::status) | any | other statuses |
///
/// The error of a failed request of a client is passed on with its status.
#[derive(Clone, Debug, PartialEq)]
pub struct Denied(Reason);

#[derive(Clone, Debug, PartialEq)]
enum Reason {
    Invalid(Vec<FieldError>),
    Status(Box<Status>),
}

impl Denied {
    /// Denies an object with invalid fields, as the API server does: the name of the object is added.
    #[must_use]
    pub fn invalid(errors: impl IntoIterator<Item = FieldError>) -> Self {
        Denied(Reason::Invalid(errors.into_iter().collect()))
    }

    /// Denies a request that the rules do not permit.
    #[must_use]
    pub fn forbidden(message: impl fmt::Display) -> Self {
        Self::from_code(StatusCode::FORBIDDEN, "Forbidden", message)
    }

    /// Denies a request because the rules cannot be evaluated.
    #[must_use]
    pub fn internal(message: impl fmt::Display) -> Self {
        Self::from_code(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message)
    }

    /// Denies a request with a status.
    #[must_use]
    pub fn status(status: Status) -> Self {
        Denied(Reason::Status(Box::new(status)))
    }

    /// Denies a review that cannot be decoded.
    pub(super) fn bad_request(message: impl fmt::Display) -> Self {
        Self::from_code(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    fn from_code(code: StatusCode, reason: &str, message: impl fmt::Display) -> Self {
        Self::status(wire::failure(code, reason, message.to_string()))
    }

    /// Returns the status for an object.
    pub(super) fn into_status(self, kind: &KindDescription, name: &str) -> Status {
        match self.0 {
            Reason::Status(status) => *status,
            Reason::Invalid(errors) => invalid(&errors, kind, name),
        }
    }
}

/// Returns the status of an invalid object, as Go's `NewInvalid`.
fn invalid(errors: &[FieldError], kind: &KindDescription, name: &str) -> Status {
    let qualified = match kind.group.as_str() {
        "" => kind.kind.clone(),
        group => format!("{}.{group}", kind.kind),
    };
    let message = format!("{qualified} {name:?} is invalid: {}", aggregate(errors));
    let details = StatusDetails {
        causes: Some(errors.iter().map(cause).collect()),
        group: Some(kind.group.clone()).filter(|group| !group.is_empty()),
        kind: Some(kind.kind.clone()),
        name: Some(name.to_owned()).filter(|name| !name.is_empty()),
        ..StatusDetails::default()
    };
    Status { details: Some(details), ..wire::failure(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message) }
}

/// Formats a single error as it is, and several errors in brackets without duplicates (`ToAggregate` of apimachinery).
fn aggregate(errors: &[FieldError]) -> String {
    let mut known = BTreeSet::new();
    let texts = errors.iter().map(ToString::to_string).filter(|text| known.insert(text.clone()));
    match texts.collect::<Vec<_>>().as_slice() {
        [text] => text.clone(),
        texts => format!("[{}]", texts.join(", ")),
    }
}

/// Returns an error as a cause. An error of the complete object has no field.
fn cause(error: &FieldError) -> StatusCause {
    StatusCause {
        field: Some(error.field.clone()).filter(|field| !field.is_empty()),
        message: Some(error.message.clone()),
        reason: Some(error.reason.to_owned()),
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Reason::Invalid(errors) => f.write_str(&aggregate(errors)),
            Reason::Status(status) => f.write_str(status.message.as_deref().unwrap_or("without explanation")),
        }
    }
}

impl std::error::Error for Denied {}

impl From<Invalid> for Denied {
    fn from(Invalid(errors): Invalid) -> Self {
        Denied::invalid(errors)
    }
}

/// Passes the status of a rejected request on. Other errors of a client are internal ones.
impl From<kube::Error> for Denied {
    fn from(error: kube::Error) -> Self {
        let status = match &error {
            kube::Error::Api(status) => serde_json::to_value(status).and_then(serde_json::from_value).ok(),
            _ => None,
        };
        status.map_or_else(|| Denied::internal(&error), Denied::status)
    }
}

/// As the error of a [`kube::Client`].
impl From<kubewright_runtime::Error> for Denied {
    fn from(error: kubewright_runtime::Error) -> Self {
        let status = error.status().and_then(|status| serde_json::to_value(status).ok());
        let status = status.and_then(|status| serde_json::from_value(status).ok());
        status.map_or_else(|| Denied::internal(&error), Denied::status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind() -> KindDescription {
        let text = str::to_owned;
        KindDescription {
            group: text("example.com"),
            version: text("v1"),
            kind: text("Widget"),
            plural: text("widgets"),
            namespaced: true,
        }
    }

    #[test]
    fn invalid_fields_are_causes() {
        let errors = [FieldError::invalid("spec.speed", 3, "must be even"), FieldError::required("spec.name", "")];
        let status = Denied::invalid(errors).into_status(&kind(), "a");
        assert_eq!((status.code, status.reason.as_deref()), (Some(422), Some("Invalid")));
        let expected = "Widget.example.com \"a\" is invalid: [spec.speed: Invalid value: 3: must be even, \
                        spec.name: Required value]";
        assert_eq!(status.message.as_deref(), Some(expected));
        let details = status.details.unwrap();
        assert_eq!((details.kind.as_deref(), details.name.as_deref()), (Some("Widget"), Some("a")));
        let causes = details.causes.unwrap();
        assert_eq!(causes[0].field.as_deref(), Some("spec.speed"));
        assert_eq!(causes[0].reason.as_deref(), Some("FieldValueInvalid"));
        assert_eq!(causes[0].message.as_deref(), Some("Invalid value: 3: must be even"));
    }

    #[test]
    fn duplicate_errors_occur_once_in_the_message() {
        let error = || FieldError::forbidden("spec", "must not be changed");
        let status = Denied::invalid([error(), error()]).into_status(&kind(), "a");
        let expected = "Widget.example.com \"a\" is invalid: spec: Forbidden: must not be changed";
        assert_eq!(status.message.as_deref(), Some(expected));
    }

    #[test]
    fn other_denials_have_a_code_and_a_reason() {
        let status = |denied: Denied| {
            let status = denied.into_status(&kind(), "a");
            (status.code.unwrap(), status.reason.unwrap(), status.message.unwrap())
        };
        assert_eq!(status(Denied::forbidden("no")), (403, "Forbidden".to_owned(), "no".to_owned()));
        assert_eq!(status(Denied::internal("oops")), (500, "InternalError".to_owned(), "oops".to_owned()));
    }
}
