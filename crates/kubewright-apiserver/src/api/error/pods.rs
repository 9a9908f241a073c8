//! Errors of pod evictions and bindings.

use http::StatusCode;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{StatusCause, StatusDetails};

use super::{ApiError, details};

impl ApiError {
    /// Creates the error for an eviction that a PodDisruptionBudget does not allow. A retry may succeed after this
    /// number of seconds.
    pub(crate) fn over_budget(detail: String, retry_after_seconds: Option<i32>) -> Self {
        let cause = StatusCause { field: None, message: Some(detail), reason: Some("DisruptionBudget".to_owned()) };
        let details = StatusDetails { causes: Some(vec![cause]), retry_after_seconds, ..StatusDetails::default() };
        let message = "Cannot evict pod as it would violate the pod's disruption budget.";
        Self::new(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", message, Some(details))
    }

    /// Creates the error for a pod that cannot be bound to a node.
    pub(crate) fn not_bound(name: &str, detail: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on pods/binding \"{name}\": {detail}");
        Self::new(StatusCode::CONFLICT, "Conflict", message, Some(details("pods/binding", "", name)))
    }
}
