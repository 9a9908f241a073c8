//! Admission policies: the MutatingAdmissionPolicies and ValidatingAdmissionPolicies that apply to a write, with the
//! messages of the real server.
//!
//! A mutating policy changes the object before it is validated, and a validating one decides on the result. Requests for
//! `/scale`, `/binding` and `/eviction` are not admitted by policies, and the action `Audit` has no effect because there
//! is no audit log.

mod admission;
mod authorizer;
mod bindings;
mod matching;
mod mutating;
mod validating;

pub(crate) use admission::{Admission, Operation};
pub(crate) use mutating::mutate;
pub(crate) use validating::validate;
