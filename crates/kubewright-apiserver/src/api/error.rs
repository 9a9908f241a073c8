//! API errors: the `Status` bodies of failed requests, with the texts of kube-apiserver.

mod field_error;
mod pods;

use std::collections::BTreeSet;

use http::StatusCode;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Status, StatusCause, StatusDetails};
use kubewright_crd::policy::DenialReason;

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
    /// A path without a handler: the response is plain text, as from the real server's mux.
    PageNotFound,
    /// A resource version that is larger than the current one.
    TooLargeResourceVersion(TooLargeResourceVersion),
    /// Any other error: a `Status` object.
    Status(Box<Status>),
}

/// A read that waits for a resource version that is larger than the current one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TooLargeResourceVersion {
    pub(crate) requested: u64,
    pub(crate) current: u64,
    /// Whether the request is a watch, which returns the error as an event of its stream.
    pub(crate) is_watch: bool,
}

impl TooLargeResourceVersion {
    /// Returns the `Status` for a wait that timed out.
    pub(crate) fn into_status(self) -> Box<Status> {
        let cause = StatusCause {
            field: None,
            message: Some("Too large resource version".to_owned()),
            reason: Some("ResourceVersionTooLarge".to_owned()),
        };
        let details =
            StatusDetails { causes: Some(vec![cause]), retry_after_seconds: Some(1), ..StatusDetails::default() };
        let message = format!("Timeout: Too large resource version: {}, current: {}", self.requested, self.current);
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
            Self::TooLargeResourceVersion(error) => Some(error.into_status()),
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

    /// Creates the error for a request without valid credentials. It does not contain the reason.
    pub(crate) fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized", None)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "", message, None)
    }

    /// Creates an error as Go's `NewInternalError` does; [`internal`](Self::internal) creates one without that
    /// wrapping.
    pub(crate) fn internal_error(detail: &str) -> Self {
        let cause = StatusCause { field: None, message: Some(detail.to_owned()), reason: None };
        let details = StatusDetails { causes: Some(vec![cause]), ..StatusDetails::default() };
        let message = format!("Internal error occurred: {detail}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message, Some(details))
    }

    /// Creates the error of etcd for an object that is too large to be stored.
    pub(crate) fn request_too_large() -> Self {
        Self::internal("etcdserver: request is too large")
    }

    /// Creates the error for an unknown resource of a built-in group.
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

    /// Creates the error for an object in another namespace than the path.
    pub(crate) fn namespace_mismatch() -> Self {
        Self::bad_request("the namespace of the provided object does not match the namespace sent on the request")
    }

    pub(crate) fn already_exists(kind: &Kind, name: &str) -> Self {
        let message = format!("{} \"{name}\" already exists", kind.group_resource());
        Self::new(StatusCode::CONFLICT, "AlreadyExists", message, Some(resource_details(kind, name)))
    }

    /// Creates the error for a name that exists already, for a request with `generateName`.
    pub(crate) fn not_unique(kind: &Kind, name: &str) -> Self {
        let detail = "the server was not able to generate a unique name for the object";
        let message = format!("{} \"{name}\" already exists, {detail}", kind.group_resource());
        let details = StatusDetails { retry_after_seconds: Some(1), ..resource_details(kind, name) };
        Self::new(StatusCode::CONFLICT, "AlreadyExists", message, Some(details))
    }

    pub(crate) fn modified(kind: &Kind, name: &str) -> Self {
        let detail = "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(kind, name, detail)
    }

    pub(crate) fn conflict(kind: &Kind, name: &str, detail: &str) -> Self {
        Self::conflict_of(&kind.plural, &kind.group, name, detail)
    }

    /// Like [`conflict`](Self::conflict), for a resource or kind that the request names.
    pub(crate) fn conflict_of(resource: &str, group: &str, name: &str, detail: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} \"{name}\": {detail}", qualified(resource, group));
        Self::new(StatusCode::CONFLICT, "Conflict", message, Some(details(resource, group, name)))
    }

    /// Creates the error for an apply that changes fields of other managers.
    pub(crate) fn apply_conflict(message: String, causes: Vec<StatusCause>) -> Self {
        let details = StatusDetails { causes: Some(causes), ..StatusDetails::default() };
        Self::new(StatusCode::CONFLICT, "Conflict", message, Some(details))
    }

    /// Creates the error for a failed precondition of a delete. The real server names the kind here, not the resource.
    pub(crate) fn precondition(kind: &Kind, name: &str, detail: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} \"{name}\": {detail}", kind.group_kind());
        let details = StatusDetails { kind: Some(kind.kind.clone()), ..resource_details(kind, name) };
        Self::new(StatusCode::CONFLICT, "Conflict", message, Some(details))
    }

    pub(crate) fn forbidden(kind: &Kind, name: &str, detail: &str) -> Self {
        let message = format!("{} \"{name}\" is forbidden: {detail}", kind.group_resource());
        Self::new(StatusCode::FORBIDDEN, "Forbidden", message, Some(resource_details(kind, name)))
    }

    /// Creates the error for a request that a validating admission policy denies.
    pub(crate) fn denied_by_policy(kind: &Kind, name: &str, message: &str, reason: DenialReason) -> Self {
        let mut error = Self::forbidden(kind, name, message);
        if let Self::Status(status) = &mut error {
            status.code = Some(i32::from(reason.code()));
            status.reason = Some(reason.name().to_owned());
            add_causes(status, &[message.to_owned()]);
        }
        error
    }

    /// Creates the error for a request that mutating admission policies deny, with the message of the first one; `None`
    /// without messages. The real server combines the reason of an invalid object with the code of a forbidden request.
    pub(crate) fn denied_by_policies(kind: &Kind, name: &str, messages: &[String]) -> Option<Self> {
        let first = messages.first()?;
        let mut error = Self::forbidden(kind, name, "");
        if let Self::Status(status) = &mut error {
            status.message = Some(first.clone());
            status.reason = Some(DenialReason::Invalid.name().to_owned());
            add_causes(status, messages);
        }
        Some(error)
    }

    /// Creates the error for a request that authorization denies. The resource is empty for other paths.
    pub(crate) fn access_denied(group: &str, resource: &str, name: &str, detail: &str) -> Self {
        let subject = match (qualified(resource, group), name) {
            (subject, _) if subject.is_empty() => String::new(),
            (subject, "") => format!("{subject} is "),
            (subject, name) => format!("{subject} \"{name}\" is "),
        };
        let message = format!("{subject}forbidden: {detail}");
        Self::new(StatusCode::FORBIDDEN, "Forbidden", message, Some(details(resource, group, name)))
    }

    /// Creates the error for a new object in a terminating namespace.
    pub(crate) fn namespace_terminating(kind: &Kind, name: &str, namespace: &str, detail: &str) -> Self {
        let mut error = Self::forbidden(kind, name, detail);
        if let Self::Status(status) = &mut error
            && let Some(details) = &mut status.details
        {
            details.causes = Some(vec![StatusCause {
                field: Some("metadata.namespace".to_owned()),
                message: Some(format!("namespace {namespace} is being terminated")),
                reason: Some("NamespaceTerminating".to_owned()),
            }]);
        }
        error
    }

    /// Creates the error for an object that fails validation; `errors` is not empty.
    pub(crate) fn invalid(kind: &Kind, name: &str, errors: &[FieldError]) -> Self {
        Self::invalid_of(&kind.kind, &kind.storage_group, name, errors)
    }

    /// Like [`invalid`](Self::invalid), for a kind that the request names or that is not served.
    pub(crate) fn invalid_of(kind: &str, group: &str, name: &str, errors: &[FieldError]) -> Self {
        let message = format!("{} \"{name}\" is invalid: {}", qualified(kind, group), aggregate(errors));
        let details = StatusDetails {
            causes: Some(errors.iter().map(FieldError::cause).collect()),
            ..details(kind, group, name)
        };
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message, Some(details))
    }

    /// Creates the error for a patch that cannot be applied to the object.
    pub(crate) fn unprocessable() -> Self {
        let message = "the server rejected our request due to an error in our request";
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message, Some(StatusDetails::default()))
    }

    /// Creates the error for a body or a patch that exceeds a limit.
    pub(crate) fn entity_too_large(detail: &str) -> Self {
        let message = format!("Request entity too large: {detail}");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", message, None)
    }

    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message, Some(StatusDetails::default()))
    }

    /// Creates the error for a verb that a custom resource, or its status, does not support.
    pub(crate) fn not_supported(kind: &Kind, verb: &str) -> Self {
        let message = format!("{verb} is not supported on resources of kind \"{}\"", kind.group_resource());
        let details = StatusDetails { name: None, ..resource_details(kind, "") };
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message, Some(details))
    }

    /// Creates the error for a representation that does not exist for objects.
    pub(crate) fn not_acceptable() -> Self {
        let message = format!("only the following media types are accepted: {MEDIA_TYPES}");
        Self::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", message, None)
    }

    /// Creates the error for a representation that does not exist for the requested resource.
    pub(crate) fn not_acceptable_for(detail: String) -> Self {
        Self::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", detail, None)
    }

    /// Like [`not_acceptable`](Self::not_acceptable), with the text of the handlers of the real server that do not
    /// resolve the resource.
    pub(crate) fn not_acceptable_unresolved() -> Self {
        Self::available(&format!("{MEDIA_TYPES}, {STREAMS}"))
    }

    /// Creates the error for an endpoint that is served as JSON only.
    pub(crate) fn json_only() -> Self {
        Self::available("application/json")
    }

    fn available(media_types: &str) -> Self {
        let message = format!("406: Not Acceptable\n\nAvailable representations: {media_types}");
        Self::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", message, Some(StatusDetails::default()))
    }

    /// Creates the error for a watch in an encoding without a stream serializer.
    pub(crate) fn stream_not_acceptable() -> Self {
        Self::not_acceptable_for(format!("only the following media types are accepted: {STREAMS}"))
    }

    /// Adds a prefix to the message of the error.
    pub(crate) fn with_prefix(self, prefix: &str) -> Self {
        let Self::Status(mut status) = self else {
            return self;
        };
        status.message = status.message.map(|message| format!("{prefix}{message}"));
        Self::Status(status)
    }

    /// Creates the error for a patch type that no handler of the real server supports.
    pub(crate) fn unsupported_patch_type() -> Self {
        let message = "415: Unsupported Media Type";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", message, Some(StatusDetails::default()))
    }

    pub(crate) fn unsupported_media_type(accepted: &str) -> Self {
        let message =
            format!("the body of the request was in an unknown format - accepted media types include: {accepted}");
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", message, None)
    }

    /// Creates the error for a watch from a version whose events are no longer in the log.
    pub(crate) fn too_old(requested: u64, oldest: u64) -> Self {
        Self::expired(format!("too old resource version: {requested} ({oldest})"))
    }

    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, "Expired", message, None)
    }

    /// Creates the error for the next page of a list whose version has expired. With the token `next`, the list can
    /// continue at the current version.
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

/// Adds causes that have only a message.
fn add_causes(status: &mut Status, messages: &[String]) {
    let cause = |message: &String| StatusCause { message: Some(message.clone()), ..StatusCause::default() };
    if let Some(details) = &mut status.details {
        details.causes.get_or_insert_default().extend(messages.iter().map(cause));
    }
}

/// Formats a single error as it is, and several errors in brackets without duplicates (`ToAggregate` of apimachinery).
fn aggregate(errors: &[FieldError]) -> String {
    let mut known = BTreeSet::new();
    let texts: Vec<String> = errors.iter().filter(|error| known.insert(*error)).map(ToString::to_string).collect();
    match texts.as_slice() {
        [error] => error.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}

fn resource_details(kind: &Kind, name: &str) -> StatusDetails {
    details(&kind.plural, &kind.group, name)
}

fn details(kind: &str, group: &str, name: &str) -> StatusDetails {
    let non_empty = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    StatusDetails { name: non_empty(name), group: non_empty(group), kind: non_empty(kind), ..StatusDetails::default() }
}
