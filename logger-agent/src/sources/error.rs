//! The errors of requests.

/// A request that is not what a source sends.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The body is not valid JSON.
    #[error("the body is not valid JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The body is not a list of audit events.
    #[error("expected an EventList of audit.k8s.io/v1, found `{kind}` of `{api_version}`")]
    NotAnEventList {
        /// The kind of the body.
        kind: String,
        /// The API version of the body.
        api_version: String,
    },
    /// The record is not a JSON object.
    #[error("expected a JSON object, such as {{\"user\":\"jane\",\"action\":\"login\"}}")]
    NotAnObject,
    /// Other JSON parsers do not accept the record.
    #[error("the JSON object is deeper than {}, or has a surrogate without its pair", crate::sources::json::MAX_DEPTH)]
    NotPortable,
    /// The value of a header is invalid.
    #[error(
        "invalid header `Idempotency-Key`: expected 1 to {} visible ASCII characters",
        crate::sources::activity::MAX_KEY
    )]
    InvalidKey,
}
