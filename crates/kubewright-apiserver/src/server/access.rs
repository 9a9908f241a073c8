//! Access to the server: authentication, impersonation and authorization, before a request is handled.

use std::sync::Arc;

use http::request::Parts;

use crate::{
    api::error::Result,
    authentication::authenticator::{Authenticator, Credentials},
    authorization::{attributes::Attributes, impersonation::Impersonation, user::User},
    storage::state::State,
};

/// The source of the user of requests.
#[derive(Debug, Clone)]
pub(crate) enum Identity {
    /// All requests are those of this user.
    User(Arc<User>),
    /// Each request is authenticated.
    Authenticated(Arc<Authenticator>),
}

impl Identity {
    /// Verifies the credentials of a request, without the state.
    ///
    /// # Errors
    /// They are invalid, or the request has none and anonymous requests are not allowed.
    pub(crate) fn credentials(&self, parts: &Parts) -> Result<Credentials> {
        match self {
            Self::User(user) => Ok(Credentials::User(user.clone())),
            Self::Authenticated(authenticator) => authenticator.credentials(parts),
        }
    }
}

/// Authenticates and authorizes a request with these credentials, and returns the user that it acts as.
///
/// # Errors
/// The credentials are no longer valid, or the user may not make the request.
pub(crate) fn admit(state: &mut State, credentials: &Credentials, parts: &Parts) -> Result<Arc<User>> {
    let user = credentials.resolve(&state.store, &state.authenticator.issuer.audiences())?;
    authorize(state, &user, parts)
}

/// Authorizes a request of `user`, and returns the user that it acts as.
///
/// # Errors
/// The user may not impersonate the requested user, or the latter may not make the request.
fn authorize(state: &mut State, user: &Arc<User>, parts: &Parts) -> Result<Arc<User>> {
    let impersonation = Impersonation::from_headers(&parts.headers)?;
    if !state.rbac {
        return Ok(impersonation.map_or_else(|| user.clone(), |wanted| Arc::new(wanted.into_user())));
    }
    let attributes = Attributes::from_parts(parts);
    let user = match impersonation {
        Some(wanted) => Arc::new(wanted.check(user, &attributes, |identity| state.authorize(user, identity))?),
        None => user.clone(),
    };
    let decision = state.authorize(&user, &attributes);
    if decision.allowed { Ok(user) } else { Err(attributes.forbidden(&user, &decision.reason)) }
}
