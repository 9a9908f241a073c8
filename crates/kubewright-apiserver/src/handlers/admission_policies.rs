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
    api::{
        error::Result,
        object::{Object, Stored},
    },
    controllers::controlled_state::ControlledState,
    handlers::request::ResourceRequest,
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
    pub(crate) async fn mutate(self, state: &ControlledState, object: Object, old: Option<&Stored>) -> Result<Object> {
        let admission = self.admission(Some(&object), old.map(|old| &**old));
        let mutated = self.request.resolve(|| mutating::mutate(state, &admission)).await?;
        Ok(mutated.unwrap_or(object))
    }

    /// Evaluates validating policies: they deny the write, or add warnings to the response. A deletion has no new
    /// object.
    ///
    /// # Errors
    /// A policy denies the write.
    pub(crate) async fn validate(
        self,
        state: &ControlledState,
        object: Option<&Object>,
        old: Option<&Object>,
    ) -> Result<()> {
        let admission = self.admission(object, old);
        self.request.resolve(|| validating::validate(state, &admission)).await
    }

    fn admission<'b>(self, object: Option<&'b Object>, old: Option<&'b Object>) -> Admission<'b>
    where
        'a: 'b,
    {
        let Self { request, operation, dry_run } = self;
        Admission { request, operation, object, old, dry_run }
    }
}
