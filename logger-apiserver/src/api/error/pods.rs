//! Why a pod is not evicted or bound

use http::StatusCode;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{StatusCause, StatusDetails};

use super::{ApiError, details};

impl ApiError {
    /// The budget of a pod says no, for now; after so many seconds it may say something else.
    pub(crate) fn over_budget(why: String, retry_after_seconds: Option<i32>) -> Self {
        let cause = StatusCause { field: None, message: Some(why), reason: Some("DisruptionBudget".to_owned()) };
        let details = StatusDetails { causes: Some(vec![cause]), retry_after_seconds, ..StatusDetails::default() };
        let message = "Cannot evict pod as it would violate the pod's disruption budget.";
        Self::new(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", message, Some(details))
    }

    /// A pod that is not to be bound to a node, or not to this one.
    pub(crate) fn not_bound(name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on pods/binding \"{name}\": {why}");
        Self::new(StatusCode::CONFLICT, "Conflict", message, Some(details("pods/binding", "", name)))
    }
}
