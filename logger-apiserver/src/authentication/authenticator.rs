//! The authenticator of requests and of the tokens in reviews.

use std::sync::Arc;

use http::{header::AUTHORIZATION, request::Parts};
use jiff::Timestamp;

use super::{
    client_certificate::ClientCertificate,
    options::Authentication,
    service_accounts::{Claims, TokenIssuer},
};
use crate::{
    api::error::{ApiError, Result},
    authorization::user::User,
    resource::strategy::Objects,
};

/// The error for a token that no method of authentication recognizes.
const INVALID_TOKEN: &str = "invalid bearer token";

/// Authenticates requests and tokens.
#[derive(Debug)]
pub(crate) struct Authenticator {
    /// `None` if requests are not authenticated.
    options: Option<Authentication>,
    pub(crate) issuer: TokenIssuer,
}

/// The verified credentials of a request.
#[derive(Debug, Clone)]
pub(crate) enum Credentials {
    User(Arc<User>),
    /// The token of a service account, whose objects may not exist any more.
    ServiceAccount(Arc<Claims>),
}

/// The outcome of a token review.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reviewed {
    /// The token is that of this user, for these of the requested audiences.
    Authenticated(Arc<User>, Vec<String>),
    /// The token is invalid, with the error of the real server.
    Rejected(String),
}

impl Authenticator {
    pub(crate) fn new(options: Option<Authentication>, issuer: TokenIssuer) -> Self {
        Self { options, issuer }
    }

    /// Returns whether requests are authenticated.
    pub(crate) fn is_enabled(&self) -> bool {
        self.options.is_some()
    }

    /// Verifies the credentials of a request, without the objects that they depend on.
    ///
    /// # Errors
    /// They are invalid, or the request has none and anonymous requests are not allowed.
    pub(crate) fn credentials(&self, parts: &Parts) -> Result<Credentials> {
        let certificate = parts.extensions.get::<ClientCertificate>();
        if let Some(ClientCertificate::Valid { user, not_after }) = certificate
            && Timestamp::now() <= *not_after
        {
            return Ok(Credentials::User(user.clone()));
        }
        let header = parts.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if let Some(token) = bearer_token(header) {
            return self.verify(token).map_err(|_| ApiError::unauthorized());
        }
        let is_allowed = self.options.as_ref().is_none_or(|options| options.allows_anonymous);
        // An invalid certificate is not ignored.
        if is_allowed && certificate.is_none() {
            Ok(Credentials::User(Arc::new(User::anonymous())))
        } else {
            Err(ApiError::unauthorized())
        }
    }

    /// Reviews a token for these audiences, or for those of this server.
    pub(crate) fn review(&self, objects: &dyn Objects, token: &str, requested: &[String]) -> Reviewed {
        let own = self.issuer.audiences();
        let requested = if requested.is_empty() { own.as_slice() } else { requested };
        let header = format!("Bearer {token}");
        let Some(credentials) = bearer_token(&header).map(|token| self.verify(token)) else {
            return Reviewed::Rejected(INVALID_TOKEN.to_owned());
        };
        let outcome = credentials.and_then(|credentials| match credentials {
            Credentials::ServiceAccount(claims) => {
                let (user, audiences) = claims.authenticate(objects, requested, Timestamp::now())?;
                Ok((Arc::new(user), audiences))
            }
            // The users of other tokens have no audiences: they are those of this server.
            Credentials::User(user) => match own.iter().filter(|audience| requested.contains(audience)).cloned().collect() {
                audiences if Vec::is_empty(&audiences) => Err(INVALID_TOKEN.to_owned()),
                audiences => Ok((user, audiences)),
            },
        });
        match outcome {
            Ok((user, audiences)) => Reviewed::Authenticated(user, audiences),
            Err(error) if error == INVALID_TOKEN => Reviewed::Rejected(error),
            // The real server has a second authenticator, which recognizes only the token of its own client.
            Err(error) => Reviewed::Rejected(format!("[{INVALID_TOKEN}, {error}]")),
        }
    }

    /// Verifies a token, without the objects that it depends on. If requests are not authenticated, a token that is not
    /// of a service account is that of the administrator, like every request.
    fn verify(&self, token: &str) -> Result<Credentials, String> {
        let configured = self.options.as_ref().and_then(|options| options.tokens.user(token));
        if let Some(user) = configured {
            return Ok(Credentials::User(user));
        }
        match self.issuer.verify(token) {
            Some(claims) => Ok(Credentials::ServiceAccount(Arc::new(claims?))),
            None if self.is_enabled() => Err(INVALID_TOKEN.to_owned()),
            None => Ok(Credentials::User(Arc::new(User::administrator()))),
        }
    }
}

impl Credentials {
    /// Returns the user, if the objects that the credentials depend on still exist.
    ///
    /// # Errors
    /// One of them does not exist any more, or the token is expired or for other audiences.
    pub(crate) fn resolve(&self, objects: &dyn Objects, audiences: &[String]) -> Result<Arc<User>> {
        match self {
            Self::User(user) => Ok(user.clone()),
            Self::ServiceAccount(claims) => match claims.authenticate(objects, audiences, Timestamp::now()) {
                Ok((user, _)) => Ok(Arc::new(user)),
                Err(_) => Err(ApiError::unauthorized()),
            },
        }
    }
}

/// Returns the bearer token of the header `Authorization`, if it is not empty.
fn bearer_token(header: &str) -> Option<&str> {
    let mut parts = header.trim().split(' ');
    parts.next().filter(|scheme| scheme.eq_ignore_ascii_case("bearer"))?;
    parts.next().filter(|token| !token.is_empty())
}
