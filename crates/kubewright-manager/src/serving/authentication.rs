//! Authentication and authorization of bearer tokens by the API server, with TokenReview and SubjectAccessReview.
//!
//! The times are those of controller-runtime: results of token reviews are cached for a minute, allowed accesses for
//! five minutes, denied ones for 30 seconds.

mod cache;
mod review;
mod single_flight;

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{
    HeaderMap, HeaderValue, Method, Request, Response, StatusCode,
    header::{AUTHORIZATION, WWW_AUTHENTICATE},
};
use k8s_openapi::api::{authentication::v1::UserInfo, authorization::v1::SubjectAccessReviewSpec};
use kube::Client;
use kubewright_http::{Body, BoxService, ResponseBody};
use tower_service::Service;

use super::{
    handler::{Handler, text},
    router::{BoxError, full},
};

pub use review::ReviewError;

use cache::{Cache, Digest};
use review::{Permit, Reviews};
use single_flight::SingleFlight;

/// The maximum number of cached tokens, and of cached accesses.
const CACHE_SIZE: usize = 1024;

/// How long a token that was authenticated is known.
const KNOWN_TTL: Duration = Duration::from_secs(60 * 60);

/// The maximum length of a token, in bytes. Tokens of service accounts have about 1000.
const MAX_TOKEN_LENGTH: usize = 16 << 10;

const TOKEN_TTL: Duration = Duration::from_secs(60);
const ALLOWED_TTL: Duration = Duration::from_secs(5 * 60);
const DENIED_TTL: Duration = Duration::from_secs(30);

/// Authenticates and authorizes requests by their bearer token. Clones share the caches.
///
/// Guarantees:
/// - A request without a token, or with one that the API server does not authenticate, gets code 401. A request whose
///   user may not use the method on the path, by the rules for `nonResourceURLs` of RBAC, gets code 403. If a review
///   fails, the request gets code 500: access is never allowed without a review.
/// - Results are cached: those of tokens for a minute, allowed accesses for five minutes, denied ones for 30 seconds.
///   The caches are bounded. Failures are not cached.
/// - A review is retried up to four times with backoff after failures that can be temporary, and has a timeout of 10
///   seconds.
/// - Concurrent requests with the same token share one review of the token, and those of a user one review of an
///   access.
/// - The number of concurrent reviews of unknown tokens is limited. A token that was authenticated within an hour does
///   not wait for them.
/// - No token is logged or stored: the caches contain digests.
///
/// The service account needs the verb `create` for `tokenreviews` in the API group `authentication.k8s.io`, and for
/// `subjectaccessreviews` in `authorization.k8s.io`. Tokens need HTTPS.
#[derive(Clone, Debug)]
pub struct Authenticator(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    reviews: Reviews,
    /// The user of each token; `None` for one that is not authenticated.
    users: Cache<Option<Arc<UserInfo>>>,
    /// The tokens that were authenticated.
    known: Cache<()>,
    accesses: Cache<bool>,
    token_reviews: SingleFlight<Result<Option<Arc<UserInfo>>, Arc<ReviewError>>>,
    access_reviews: SingleFlight<Result<bool, Arc<ReviewError>>>,
}

/// Why a request is rejected.
enum Rejection {
    /// The token is missing or not authenticated.
    Unauthorized,
    Forbidden {
        user: String,
    },
    /// The review of the token failed.
    TokenReview(Arc<ReviewError>),
    /// The review of the access failed.
    AccessReview {
        user: String,
        error: Arc<ReviewError>,
    },
}

impl Authenticator {
    /// Creates an authenticator that sends reviews through this client.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Authenticator(Arc::new(Shared {
            reviews: Reviews::new(client),
            users: Cache::new(CACHE_SIZE),
            known: Cache::new(CACHE_SIZE),
            accesses: Cache::new(CACHE_SIZE),
            token_reviews: SingleFlight::new(),
            access_reviews: SingleFlight::new(),
        }))
    }

    /// Wraps a handler or a [service](BoxService), which then only receives authorized requests.
    #[must_use]
    pub fn protect<H>(&self, handler: H) -> Authenticated<H> {
        Authenticated { authenticator: self.clone(), handler }
    }

    async fn authorize(&self, method: &Method, path: &str, headers: &HeaderMap) -> Result<(), Rejection> {
        let user = match bearer_token(headers) {
            Some(token) => self.authenticate(token).await.map_err(Rejection::TokenReview)?,
            None => None,
        };
        let user = user.ok_or(Rejection::Unauthorized)?;
        let name = || user.username.clone().unwrap_or_default();
        match self.is_allowed(&user, method, path).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(Rejection::Forbidden { user: name() }),
            Err(error) => Err(Rejection::AccessReview { user: name(), error }),
        }
    }

    /// Returns the user of a token, from the cache or by a review.
    async fn authenticate(&self, token: &str) -> Result<Option<Arc<UserInfo>>, Arc<ReviewError>> {
        let digest = Digest::new(token.as_bytes());
        if let Some(user) = self.0.users.get(&digest) {
            return Ok(user);
        }
        let start = || {
            let (shared, token, digest) = (Arc::clone(&self.0), token.to_owned(), digest.clone());
            Box::pin(async move { shared.review_token(&token, digest).await }) as BoxFuture<'_, _>
        };
        self.0.token_reviews.run(&digest, start).await
    }

    /// Returns whether a user may use the method on the path, from the cache or by a review.
    async fn is_allowed(&self, user: &UserInfo, method: &Method, path: &str) -> Result<bool, Arc<ReviewError>> {
        let verb = method.as_str().to_ascii_lowercase();
        let spec = review::access_of(user, &verb, path);
        // Serialization of these types cannot fail, and maps are sorted.
        let Ok(bytes) = serde_json::to_vec(&spec) else { return Ok(false) };
        let digest = Digest::new(&bytes);
        if let Some(allowed) = self.0.accesses.get(&digest) {
            return Ok(allowed);
        }
        let start = || {
            let (shared, digest) = (Arc::clone(&self.0), digest.clone());
            Box::pin(async move { shared.review_access(spec, digest).await }) as BoxFuture<'_, _>
        };
        self.0.access_reviews.run(&digest, start).await
    }
}

impl Shared {
    /// Reviews a token and caches the result.
    async fn review_token(&self, token: &str, digest: Digest) -> Result<Option<Arc<UserInfo>>, Arc<ReviewError>> {
        let permit = if self.known.get(&digest).is_some() { Permit::NotNeeded } else { Permit::Needed };
        let user = self.reviews.review_token(token, permit).await?.map(Arc::new);
        match user {
            Some(_) => self.known.insert(digest.clone(), (), KNOWN_TTL),
            None => self.known.remove(&digest),
        }
        self.users.insert(digest, user.clone(), TOKEN_TTL);
        Ok(user)
    }

    /// Reviews an access and caches the result.
    async fn review_access(&self, spec: SubjectAccessReviewSpec, digest: Digest) -> Result<bool, Arc<ReviewError>> {
        let allowed = self.reviews.review_access(spec).await?;
        self.accesses.insert(digest, allowed, if allowed { ALLOWED_TTL } else { DENIED_TTL });
        Ok(allowed)
    }
}

/// A handler or a service of authorized requests: that of [`Authenticator::protect`].
#[derive(Clone, Debug)]
pub struct Authenticated<H> {
    authenticator: Authenticator,
    handler: H,
}

impl<H: Handler> Handler for Authenticated<H> {
    fn handle(&self, request: Request<Bytes>) -> BoxFuture<'_, Response<Bytes>> {
        Box::pin(async move {
            let (method, path) = (request.method(), request.uri().path());
            match self.authenticator.authorize(method, path, request.headers()).await {
                Ok(()) => self.handler.handle(request).await,
                Err(rejection) => rejection.respond(path),
            }
        })
    }

    fn is_authenticated(&self) -> bool {
        true
    }
}

impl Service<Request<Body>> for Authenticated<BoxService> {
    type Response = Response<ResponseBody>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.handler.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let Authenticated { authenticator, handler: mut service } = self.clone();
        Box::pin(async move {
            // The body is not `Sync`, so that no reference to the request is held.
            let (parts, body) = request.into_parts();
            match authenticator.authorize(&parts.method, parts.uri.path(), &parts.headers).await {
                Ok(()) => service.call(Request::from_parts(parts, body)).await,
                Err(rejection) => Ok(full(rejection.respond(parts.uri.path()))),
            }
        })
    }
}

impl Rejection {
    /// Returns the response, with the texts of controller-runtime, and logs the reason.
    fn respond(self, path: &str) -> Response<Bytes> {
        match self {
            Rejection::Unauthorized => {
                tracing::debug!(path, "a request is not authenticated");
                let mut response = text(StatusCode::UNAUTHORIZED, "Unauthorized\n");
                response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
                response
            }
            Rejection::Forbidden { user } => {
                tracing::info!(path, user, "a request is not authorized");
                text(StatusCode::FORBIDDEN, format!("Authorization denied for user {user}\n"))
            }
            Rejection::TokenReview(error) => {
                tracing::error!(path, %error, "a request cannot be authenticated");
                text(StatusCode::INTERNAL_SERVER_ERROR, "Authentication failed\n")
            }
            Rejection::AccessReview { user, error } => {
                tracing::error!(path, user, %error, "a request cannot be authorized");
                text(StatusCode::INTERNAL_SERVER_ERROR, format!("Authorization for user {user} failed\n"))
            }
        }
    }
}

/// Returns the token of the header `Authorization`.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.trim().split_once(' ')?;
    let token = token.trim();
    let is_valid = scheme.eq_ignore_ascii_case("bearer") && (1..=MAX_TOKEN_LENGTH).contains(&token.len());
    is_valid.then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_is_case_insensitive_and_the_token_is_bounded() {
        let token = |value: &str| {
            let headers = HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_str(value).unwrap())]);
            bearer_token(&headers).map(str::to_owned)
        };
        assert_eq!(token("Bearer abc").as_deref(), Some("abc"));
        assert_eq!(token("bearer  abc ").as_deref(), Some("abc"));
        for invalid in ["Bearer", "Bearer ", "Basic abc", "abc"] {
            assert_eq!(token(invalid), None, "{invalid}");
        }
        assert_eq!(token(&format!("Bearer {}", "a".repeat(MAX_TOKEN_LENGTH + 1))), None);
        assert_eq!(bearer_token(&HeaderMap::new()), None);
    }
}
