//! Errors of pod evictions and bindings.

use http::StatusCode;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{StatusCause, StatusDetails};

use super::{ApiError, details};

impl ApiError {
    /// A PodDisruptionBudget does not allow the eviction now; a retry may succeed after this number of seconds.
    pub(crate) fn over_budget(why: String, retry_after_seconds: Option<i32>) -> Self {
        let cause = StatusCause { field: None, message: Some(why), reason: Some("DisruptionBudget".to_owned()) };
        let details = StatusDetails { causes: Some(vec![cause]), retry_after_seconds, ..StatusDetails::default() };
        let message = "Cannot evict pod as it would violate the pod's disruption budget.";
        Self::new(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", message, Some(details))
    }

    /// A pod that cannot be bound to a node.
    pub(crate) fn not_bound(name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on pods/binding \"{name}\": {why}");
        Self::new(StatusCode::CONFLICT, "Conflict", message, Some(details("pods/binding", "", name)))
    }
}
