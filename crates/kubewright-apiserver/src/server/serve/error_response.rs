//! Error responses to requests that do not reach the API server.

use http::{Response, StatusCode};
use serde_json::json;

use crate::response::body::{Body, full, response};

/// Returns an error response.
pub(super) fn error_response(code: StatusCode, reason: &str, message: &str) -> Response<Body> {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code.as_u16(),
    });
    response(code, "application/json", full(status.to_string()))
}
