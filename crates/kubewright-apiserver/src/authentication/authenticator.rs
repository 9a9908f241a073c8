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
        let accepted = self.issuer.audiences();
        let requested = if requested.is_empty() { accepted.as_slice() } else { requested };
        let header = format!("Bearer {token}");
        let Some(credentials) = bearer_token(&header).map(|token| self.verify(token)) else {
            return Reviewed::Rejected(INVALID_TOKEN.to_owned());
        };
        let outcome = credentials.and_then(|credentials| match credentials {
            Credentials::ServiceAccount(claims) => {
                let (user, audiences) = claims.authenticate(objects, requested, Timestamp::now())?;
                Ok((Arc::new(user), audiences))
            }
            Credentials::User(user) if !self.is_enabled() => Ok((user, requested.to_vec())),
            // Other tokens are for this server only.
            Credentials::User(user) => {
                let audiences: Vec<String> =
                    accepted.iter().filter(|audience| requested.contains(audience)).cloned().collect();
                if audiences.is_empty() { Err(INVALID_TOKEN.to_owned()) } else { Ok((user, audiences)) }
            }
        });
        match outcome {
            Ok((user, audiences)) => Reviewed::Authenticated(user, audiences),
            Err(error) if error == INVALID_TOKEN => Reviewed::Rejected(error),
            // The real server has a second authenticator, which recognizes only the token of the server itself.
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

#[cfg(test)]
mod tests {
    use http::Request;
    use jiff::SignedDuration;

    use super::*;
    use crate::authentication::{
        fixture::Existing,
        service_accounts::{BoundObjects, Reference, SERVICE_ACCOUNTS, TokenSpec},
    };

    const HERE: &str = "https://here";

    fn authenticator(options: Option<Authentication>) -> Authenticator {
        Authenticator::new(options, TokenIssuer::new(HERE.to_owned(), None))
    }

    fn enabled() -> Authenticator {
        authenticator(Some(Authentication::new().token("abc", "jane", &["dev"])))
    }

    fn certificate(expires_in: i64) -> ClientCertificate {
        let user = Arc::new(User::authenticated("admin".to_owned(), vec!["system:masters".to_owned()]));
        ClientCertificate::Valid { user, not_after: Timestamp::now() + SignedDuration::from_secs(expires_in) }
    }

    /// Returns the name of the user of a request, or the code of its error.
    fn user(
        authenticator: &Authenticator,
        authorization: &str,
        certificate: Option<ClientCertificate>,
    ) -> Result<String, i32> {
        let (mut parts, ()) = Request::builder().header(AUTHORIZATION, authorization).body(()).unwrap().into_parts();
        if let Some(certificate) = certificate {
            parts.extensions.insert(certificate);
        }
        let objects = Existing::default().with(SERVICE_ACCOUNTS, "robot", None);
        let credentials = authenticator.credentials(&parts);
        let user = credentials.and_then(|credentials| credentials.resolve(&objects, &[HERE.to_owned()]));
        user.map(|user| user.name.clone()).map_err(|error| error.into_status().unwrap().code.unwrap())
    }

    fn token(authenticator: &Authenticator, account: &str, audience: &str) -> String {
        let uid = format!("{SERVICE_ACCOUNTS}-{account}");
        let serviceaccount = Reference { name: account.to_owned(), uid };
        let bound = BoundObjects { namespace: "ns".to_owned(), serviceaccount, ..BoundObjects::default() };
        let spec = TokenSpec { bound, audiences: vec![audience.to_owned()], expiration_seconds: 600 };
        authenticator.issuer.issue(spec, Timestamp::now().as_second()).unwrap()
    }

    #[test]
    fn a_request_is_that_of_its_certificate_or_its_token() {
        let authenticator = enabled();
        let user = |authorization: &str, certificate| user(&authenticator, authorization, certificate);
        assert_eq!(user("", Some(certificate(60))).unwrap(), "admin");
        assert_eq!(user("Bearer wrong", Some(certificate(60))).unwrap(), "admin");
        assert_eq!(user("Bearer abc", None).unwrap(), "jane");
        assert_eq!(user("bearer abc more", None).unwrap(), "jane");
        for invalid in [ClientCertificate::Invalid, certificate(-60)] {
            assert_eq!(user("Bearer abc", Some(invalid.clone())).unwrap(), "jane");
            assert_eq!(user("", Some(invalid)), Err(401));
        }
        assert_eq!(user("Bearer wrong", None), Err(401));
        assert_eq!(user("Bearer eyJ.eyJ.eyJ", None), Err(401));
    }

    #[test]
    fn requests_without_credentials_are_anonymous_if_that_is_allowed() {
        for (allowed, expected) in [(true, Ok("system:anonymous".to_owned())), (false, Err(401))] {
            let authenticator = authenticator(Some(Authentication::new().anonymous(allowed)));
            for authorization in ["", "Basic YTpi", "Bearer", "Bearer "] {
                assert_eq!(user(&authenticator, authorization, None), expected, "{authorization:?}");
            }
        }
    }

    #[test]
    fn tokens_of_service_accounts_are_valid_while_the_account_exists() {
        let authenticator = enabled();
        let user = |account: &str, audience: &str| {
            user(&authenticator, &format!("Bearer {}", token(&authenticator, account, audience)), None)
        };
        assert_eq!(user("robot", HERE).unwrap(), "system:serviceaccount:ns:robot");
        assert_eq!(user("robot", "vault"), Err(401));
        assert_eq!(user("deleted", HERE), Err(401));
    }

    #[test]
    fn reviews_return_the_user_or_the_error() {
        let (authenticator, objects) = (enabled(), Existing::default().with(SERVICE_ACCOUNTS, "robot", None));
        let review = |token: &str, audiences: &[&str]| {
            let audiences: Vec<String> = audiences.iter().map(|audience| (*audience).to_owned()).collect();
            match authenticator.review(&objects, token, &audiences) {
                Reviewed::Authenticated(user, audiences) => Ok(format!("{} for {}", user.name, audiences.join(","))),
                Reviewed::Rejected(error) => Err(error),
            }
        };
        assert_eq!(review("abc", &[]).unwrap(), "jane for https://here");
        assert_eq!(review("abc", &["vault", HERE]).unwrap(), "jane for https://here");
        for (token, audiences) in [("abc", ["vault"]), ("wrong", [HERE]), ("", [HERE])] {
            assert_eq!(review(token, &audiences).unwrap_err(), INVALID_TOKEN);
        }
        let vault = token(&authenticator, "robot", "vault");
        assert_eq!(review(&vault, &["vault"]).unwrap(), "system:serviceaccount:ns:robot for vault");
        let error = review(&vault, &[]).unwrap_err();
        assert!(error.starts_with("[invalid bearer token, token audiences [\"vault\"] is invalid"), "{error}");
        let deleted = review(&token(&authenticator, "deleted", HERE), &[]).unwrap_err();
        assert_eq!(deleted, "[invalid bearer token, serviceaccounts \"deleted\" not found]");
    }

    #[test]
    fn without_authentication_every_other_token_is_that_of_the_administrator() {
        let (authenticator, objects) = (authenticator(None), Existing::default());
        let requested = ["vault".to_owned()];
        let Reviewed::Authenticated(user, audiences) = authenticator.review(&objects, "any", &requested) else {
            panic!("the token is valid");
        };
        assert_eq!((user.name.as_str(), audiences.as_slice()), ("admin", requested.as_slice()));
        let deleted = token(&authenticator, "robot", HERE);
        assert!(matches!(authenticator.review(&objects, &deleted, &[]), Reviewed::Rejected(_)));
    }
}
