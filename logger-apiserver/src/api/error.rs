//! API errors: the `Status` bodies of failed requests, with the texts of kube-apiserver.

mod field_error;
mod pods;

use http::StatusCode;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Status, StatusCause, StatusDetails};

use crate::api::kind::{Kind, qualified};

pub(crate) use field_error::FieldError;

/// The media types that the real server reads and writes.
pub(crate) const MEDIA_TYPES: &str = "application/json, application/yaml, application/vnd.kubernetes.protobuf";

const STREAMS: &str = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";

/// The result of handling a request.
pub(crate) type Result<T, E = ApiError> = std::result::Result<T, E>;

/// The error of a request.
#[derive(Debug, Clone)]
pub(crate) enum ApiError {
    /// A path without a handler: plain text, as the real server's mux answers.
    PageNotFound,
    /// A resource version that is larger than the current one.
    Ahead(Ahead),
    /// Any other error: a `Status` object.
    Status(Box<Status>),
}

/// A read that waits for a resource version that is larger than the current one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ahead {
    pub(crate) asked: u64,
    pub(crate) current: u64,
    /// A watch returns the error as an event of its stream.
    pub(crate) by_watch: bool,
}

impl Ahead {
    /// Returns the `Status` for a wait that timed out.
    pub(crate) fn into_status(self) -> Box<Status> {
        let cause = StatusCause {
            field: None,
            message: Some("Too large resource version".to_owned()),
            reason: Some("ResourceVersionTooLarge".to_owned()),
        };
        let details =
            StatusDetails { causes: Some(vec![cause]), retry_after_seconds: Some(1), ..StatusDetails::default() };
        let message = format!("Timeout: Too large resource version: {}, current: {}", self.asked, self.current);
        status(StatusCode::GATEWAY_TIMEOUT, "Timeout", message, Some(details))
    }
}

impl ApiError {
    fn new(code: StatusCode, reason: &str, message: impl Into<String>, details: Option<StatusDetails>) -> Self {
        Self::Status(status(code, reason, message.into(), details))
    }

    /// Returns the `Status` of the error, if it has one.
    pub(crate) fn into_status(self) -> Option<Box<Status>> {
        match self {
            Self::PageNotFound => None,
            Self::Ahead(ahead) => Some(ahead.into_status()),
            Self::Status(status) => Some(status),
        }
    }

    /// Returns the message of the error.
    pub(crate) fn message(self) -> String {
        self.into_status().and_then(|status| status.message).unwrap_or_else(|| "404 page not found".to_owned())
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message, None)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "", message, None)
    }

    /// An error as Go's `NewInternalError` wraps it; [`internal`](Self::internal) is an error without that wrapping.
    pub(crate) fn internal_error(why: &str) -> Self {
        let cause = StatusCause { field: None, message: Some(why.to_owned()), reason: None };
        let details = StatusDetails { causes: Some(vec![cause]), ..StatusDetails::default() };
        let message = format!("Internal error occurred: {why}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message, Some(details))
    }

    /// An unknown resource of a group that the server itself serves.
    pub(crate) fn unknown_resource() -> Self {
        let message = "the server could not find the requested resource";
        Self::new(StatusCode::NOT_FOUND, "NotFound", message, Some(StatusDetails::default()))
    }

    pub(crate) fn not_found(kind: &Kind, name: &str) -> Self {
        let message = format!("{} \"{name}\" not found", kind.group_resource());
        Self::new(StatusCode::NOT_FOUND, "NotFound", message, Some(resource_details(kind, name)))
    }

    pub(crate) fn namespace_not_found(name: &str) -> Self {
        let details = StatusDetails {
            name: Some(name.to_owned()),
            kind: Some("namespaces".to_owned()),
            ..StatusDetails::default()
        };
        Self::new(StatusCode::NOT_FOUND, "NotFound", format!("namespaces \"{name}\" not found"), Some(details))
    }

    pub(crate) fn already_exists(kind: &Kind, name: &str) -> Self {
        let message = format!("{} \"{name}\" already exists", kind.group_resource());
        Self::new(StatusCode::CONFLICT, "AlreadyExists", message, Some(resource_details(kind, name)))
    }

    /// A name that exists already, for a request with `generateName`.
    pub(crate) fn not_unique(kind: &Kind, name: &str) -> Self {
        let why = "the server was not able to generate a unique name for the object";
        let message = format!("{} \"{name}\" already exists, {why}", kind.group_resource());
        let details = StatusDetails { retry_after_seconds: Some(1), ..resource_details(kind, name) };
        Self::new(StatusCode::CONFLICT, "AlreadyExists", message, Some(details))
    }

    pub(crate) fn modified(kind: &Kind, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(kind, name, why)
    }

    pub(crate) fn conflict(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} \"{name}\": {why}", kind.group_resource());
        Self::new(StatusCode::CONFLICT, "Conflict", message, Some(resource_details(kind, name)))
    }

    /// An apply that changes fields of other managers.
    pub(crate) fn apply_conflict(message: String, causes: Vec<StatusCause>) -> Self {
        let details = StatusDetails { causes: Some(causes), ..StatusDetails::default() };
        Self::new(StatusCode::CONFLICT, "Conflict", message, Some(details))
    }

    /// A failed precondition of a delete; the real server names the kind here, not the resource.
    pub(crate) fn precondition(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} \"{name}\": {why}", kind.group_kind());
        let details = StatusDetails { kind: Some(kind.kind.clone()), ..resource_details(kind, name) };
        Self::new(StatusCode::CONFLICT, "Conflict", message, Some(details))
    }

    pub(crate) fn forbidden(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!("{} \"{name}\" is forbidden: {why}", kind.group_resource());
        Self::new(StatusCode::FORBIDDEN, "Forbidden", message, Some(resource_details(kind, name)))
    }

    /// A new object in a terminating namespace.
    pub(crate) fn namespace_is_ending(kind: &Kind, name: &str, namespace: &str, why: &str) -> Self {
        let mut refusal = Self::forbidden(kind, name, why);
        if let Self::Status(status) = &mut refusal
            && let Some(details) = &mut status.details
        {
            details.causes = Some(vec![StatusCause {
                field: Some("metadata.namespace".to_owned()),
                message: Some(format!("namespace {namespace} is being terminated")),
                reason: Some("NamespaceTerminating".to_owned()),
            }]);
        }
        refusal
    }

    /// An object that fails validation; `errors` is not empty.
    pub(crate) fn invalid(kind: &Kind, name: &str, errors: &[FieldError]) -> Self {
        Self::invalid_of(&kind.kind, &kind.storage_group, name, errors)
    }

    /// Like [`invalid`](Self::invalid), for a kind that the request names or that is not served.
    pub(crate) fn invalid_of(kind: &str, group: &str, name: &str, errors: &[FieldError]) -> Self {
        let message = format!("{} \"{name}\" is invalid: {}", qualified(kind, group), joined(errors));
        let details = StatusDetails {
            causes: Some(errors.iter().map(FieldError::cause).collect()),
            ..details(kind, group, name)
        };
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message, Some(details))
    }

    /// A patch that cannot be applied to the object.
    pub(crate) fn unprocessable() -> Self {
        let message = "the server rejected our request due to an error in our request";
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message, Some(StatusDetails::default()))
    }

    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message, Some(StatusDetails::default()))
    }

    /// A verb that a custom resource, or its status, does not support.
    pub(crate) fn not_supported(kind: &Kind, verb: &str) -> Self {
        let message = format!("{verb} is not supported on resources of kind \"{}\"", kind.group_resource());
        let details = StatusDetails { name: None, ..resource_details(kind, "") };
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message, Some(details))
    }

    /// A representation that does not exist for objects.
    pub(crate) fn not_acceptable() -> Self {
        let message = format!("only the following media types are accepted: {MEDIA_TYPES}");
        Self::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", message, None)
    }

    /// A representation that does not exist for the requested resource.
    pub(crate) fn not_acceptable_for(why: String) -> Self {
        Self::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", why, None)
    }

    /// Like [`not_acceptable`](Self::not_acceptable), for the handlers of the real server that do not know the
    /// resource.
    pub(crate) fn not_representable() -> Self {
        Self::available(&format!("{MEDIA_TYPES}, {STREAMS}"))
    }

    /// An endpoint that is served as JSON only.
    pub(crate) fn json_alone() -> Self {
        Self::available("application/json")
    }

    fn available(media_types: &str) -> Self {
        let message = format!("406: Not Acceptable\n\nAvailable representations: {media_types}");
        Self::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", message, Some(StatusDetails::default()))
    }

    /// A watch in an encoding that has no stream serializer.
    pub(crate) fn no_such_stream() -> Self {
        Self::not_acceptable_for(format!("only the following media types are accepted: {STREAMS}"))
    }

    /// Returns the error with a prefix of its message.
    pub(crate) fn after(self, words: &str) -> Self {
        let Self::Status(mut status) = self else {
            return self;
        };
        status.message = status.message.map(|message| format!("{words}{message}"));
        Self::Status(status)
    }

    /// A patch type that no handler of the real server supports.
    pub(crate) fn unsupported_patch_type() -> Self {
        let message = "415: Unsupported Media Type";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", message, Some(StatusDetails::default()))
    }

    pub(crate) fn unsupported_media_type(accepted: &str) -> Self {
        let message =
            format!("the body of the request was in an unknown format - accepted media types include: {accepted}");
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", message, None)
    }

    /// A watch from a version whose events are no longer in the log.
    pub(crate) fn too_old(asked: u64, oldest: u64) -> Self {
        Self::expired(format!("too old resource version: {asked} ({oldest})"))
    }

    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, "Expired", message, None)
    }

    /// The next page of a list whose version has expired; with `next` the list can continue at the current version.
    pub(crate) fn expired_page(next: String) -> Self {
        let message = "The provided continue parameter is too old to display a consistent list result. You can start a new \
            list without the continue parameter, or use the continue token in this response to retrieve the remainder of the \
            results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, \
            or deleted between the time the first chunk was returned and now may show up in the list.";
        let mut status = status(StatusCode::GONE, "Expired", message.to_owned(), None);
        status.metadata.continue_ = Some(next);
        Self::Status(status)
    }
}

fn status(code: StatusCode, reason: &str, message: String, details: Option<StatusDetails>) -> Box<Status> {
    Box::new(Status {
        code: Some(i32::from(code.as_u16())),
        details,
        message: Some(message),
        reason: Some(reason.to_owned()).filter(|reason| !reason.is_empty()),
        status: Some("Failure".to_owned()),
        ..Status::default()
    })
}

/// Formats one error as it is, and several in brackets without duplicates.
fn joined(errors: &[FieldError]) -> String {
    let mut texts: Vec<String> = Vec::new();
    for text in errors.iter().map(ToString::to_string) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    match texts.as_slice() {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}

fn resource_details(kind: &Kind, name: &str) -> StatusDetails {
    details(&kind.plural, &kind.group, name)
}

fn details(kind: &str, group: &str, name: &str) -> StatusDetails {
    let set = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    StatusDetails { name: set(name), group: set(group), kind: set(kind), ..StatusDetails::default() }
}
