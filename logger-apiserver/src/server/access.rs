//! Access to the server: impersonation and authorization, before a request is handled.

use std::sync::Arc;

use http::request::Parts;

use crate::{
    api::error::Result,
    authorization::{attributes::Attributes, impersonation::Impersonation, user::User},
    storage::state::State,
};

/// Authorizes a request of `user`, and returns the user that it acts as.
///
/// # Errors
/// The user may not impersonate the requested user, or the latter may not make the request.
pub(crate) fn authorize(state: &mut State, user: &Arc<User>, parts: &Parts) -> Result<Arc<User>> {
    let impersonation = Impersonation::of(&parts.headers)?;
    if !state.rbac {
        return Ok(impersonation.map_or_else(|| user.clone(), |wanted| Arc::new(wanted.into_user())));
    }
    let attributes = Attributes::of(parts);
    let user = match impersonation {
        Some(wanted) => Arc::new(wanted.check(user, &attributes, |identity| state.authorize(user, identity))?),
        None => user.clone(),
    };
    let decision = state.authorize(&user, &attributes);
    if decision.allowed { Ok(user) } else { Err(attributes.forbidden(&user, &decision.reason)) }
}
