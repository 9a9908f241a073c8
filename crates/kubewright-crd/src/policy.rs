//! Admission policies: ValidatingAdmissionPolicy and MutatingAdmissionPolicy, their validation and their evaluation.
//!
//! [`ValidatingPolicy`] and [`MutatingPolicy`] evaluate the expressions of a policy on one request, with the messages
//! of kube-apiserver. Which requests a policy applies to is decided by the server that stores it. [`TypeChecker`] finds
//! errors that the server reports only when a request fails, such as fields that do not exist.
//!
//! ```
//! use kubewright_crd::policy::{Request, ValidatingPolicy};
//! use serde_json::json;
//!
//! let policy = json!({
//!     "apiVersion": "admissionregistration.k8s.io/v1",
//!     "kind": "ValidatingAdmissionPolicy",
//!     "metadata": {"name": "replicas"},
//!     "spec": {
//!         "matchConstraints": {"resourceRules": [{
//!             "apiGroups": ["example.com"],
//!             "apiVersions": ["v1"],
//!             "operations": ["CREATE"],
//!             "resources": ["widgets"],
//!         }]},
//!         "validations": [{
//!             "expression": "object.spec.replicas <= 5 || 'admins' in request.userInfo.groups",
//!             "message": "only admins may run more than 5 replicas",
//!         }],
//!     },
//! });
//! let policy = ValidatingPolicy::new(&policy).unwrap();
//! let (object, request) = (json!({"spec": {"replicas": 9}}), json!({"userInfo": {"groups": []}}));
//! let outcome = policy.validate(&Request { object: &object, request: &request, ..Request::default() });
//! assert_eq!(outcome.denials[0].message, "only admins may run more than 5 replicas");
//! ```

mod binding;
mod compiler;
mod constraints;
mod defaults;
mod definition;
mod denial_reason;
mod fields;
mod kind;
mod mutating;
mod request;
#[cfg(test)]
mod tests;
mod type_check;
mod validating;

pub use compiler::ExpressionError;
pub use defaults::{default_binding, default_policy};
pub use definition::validate_binding;
pub use denial_reason::DenialReason;
pub use kind::PolicyKind;
pub use mutating::{MutatingPolicy, Patch};
pub use request::Request;
pub use type_check::{DefaultError, TypeChecker};
pub use validating::{Denial, Outcome, ValidatingPolicy};

use serde_json::Value;

use crate::field::FieldError;

/// Validates the spec of a policy, after setting its defaults. The metadata and the syntax of label selectors are not
/// validated here, because they are the same for all kinds.
pub fn validate_policy(kind: PolicyKind, policy: &Value) -> Vec<FieldError> {
    match kind {
        PolicyKind::Validating => ValidatingPolicy::errors(policy),
        PolicyKind::Mutating => MutatingPolicy::errors(policy),
    }
}
