//! Admission policies: the MutatingAdmissionPolicies and ValidatingAdmissionPolicies that apply to a write, with the
//! messages of the real server.
//!
//! A mutating policy changes the object before it is validated, and a validating one decides on the result. Requests
//! for `/scale`, `/binding` and `/eviction` are not admitted by policies, and the action `Audit` has no effect because
//! there is no audit log.

mod admission;
mod authorizer;
mod bindings;
mod matching;
mod mutating;
mod validating;

use self::admission::Admission;
pub(crate) use self::admission::Operation;
use crate::{
    api::{error::Result, object::Object},
    handlers::request::ResourceRequest,
    storage::state::State,
};

/// Evaluates the admission policies of a write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AdmissionPolicies<'a> {
    pub(crate) request: &'a ResourceRequest,
    pub(crate) operation: Operation,
    pub(crate) dry_run: bool,
}

impl<'a> AdmissionPolicies<'a> {
    /// Returns the object that is written, as mutating policies change it. `old` is the object that it replaces.
    ///
    /// # Errors
    /// The evaluation of a policy fails, and its failures are not ignored.
    pub(crate) fn mutate(self, state: &State, object: Object, old: Option<&Object>) -> Result<Object> {
        let mutated = mutating::mutate(state, &self.admission(Some(&object), old));
        // A policy may ignore its failures, but not that a conversion is pending.
        self.request.check_pending()?;
        Ok(mutated?.unwrap_or(object))
    }

    /// Evaluates validating policies: they deny the write, or add warnings to the response. A deletion has no new
    /// object.
    ///
    /// # Errors
    /// A policy denies the write.
    pub(crate) fn validate(self, state: &State, object: Option<&Object>, old: Option<&Object>) -> Result<()> {
        let validated = validating::validate(state, &self.admission(object, old));
        self.request.check_pending()?;
        validated
    }

    fn admission<'b>(self, object: Option<&'b Object>, old: Option<&'b Object>) -> Admission<'b>
    where
        'a: 'b,
    {
        let Self { request, operation, dry_run } = self;
        Admission { request, operation, object, old, dry_run }
    }
}
