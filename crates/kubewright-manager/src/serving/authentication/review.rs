//! The requests of reviews, with retries and a timeout.

use std::{fmt, sync::Arc, time::Duration};

use k8s_openapi::api::{
    authentication::v1::{TokenReview, TokenReviewSpec, UserInfo},
    authorization::v1::{NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec},
};
use kube::{Client, Resource, api::PostParams};
use serde::{
    Serialize,
    de::{DeserializeOwned, Error as _},
};
use tokio::{
    sync::Semaphore,
    time::{sleep, timeout},
};

/// The timeout of a review with all its retries.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The number of requests of a review, and the delays between them: those of the API server's webhooks.
const ATTEMPTS: u32 = 5;
const INITIAL_DELAY: Duration = Duration::from_millis(500);
const BACKOFF_FACTOR: f64 = 1.5;
const JITTER: f64 = 0.2;

/// The maximum number of concurrent reviews of unknown tokens, which must not flood the API server, and of concurrent
/// reviews of accesses.
const MAX_CONCURRENT: usize = 16;

/// A review without a result.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// The service account of this process may not create reviews.
    #[error("grant the verb `create` for `{resource}` in the API group `{group}` to the service account: {source}")]
    MissingPermission {
        /// The plural name of the review.
        resource: String,
        /// Its API group.
        group: String,
        /// The error of the API server.
        source: Box<kube::Error>,
    },
    /// The request failed.
    #[error("cannot create `{resource}`: {source}")]
    Request {
        /// The plural name of the review.
        resource: String,
        /// The error of the last attempt.
        source: Box<kube::Error>,
    },
    /// There was no response in time.
    #[error("cannot create `{resource}`: no response within {timeout:?}")]
    Timeout {
        /// The plural name of the review.
        resource: String,
        /// The timeout.
        timeout: Duration,
    },
}

/// Sends reviews.
#[derive(Clone)]
pub(super) struct Reviews {
    client: Client,
    tokens: Arc<Semaphore>,
    accesses: Arc<Semaphore>,
}

/// Whether a review counts for the maximum of concurrent ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Permit {
    Needed,
    NotNeeded,
}

impl Reviews {
    pub(super) fn new(client: Client) -> Self {
        let permits = || Arc::new(Semaphore::new(MAX_CONCURRENT));
        Reviews { client, tokens: permits(), accesses: permits() }
    }

    /// Returns the user of a token, or `None` if the token is not authenticated.
    pub(super) async fn review_token(&self, token: &str, permit: Permit) -> Result<Option<UserInfo>, ReviewError> {
        let spec = TokenReviewSpec { token: token.to_owned(), ..TokenReviewSpec::default() };
        let permits = (permit == Permit::Needed).then_some(&*self.tokens);
        let review = self.create(TokenReview { spec, ..TokenReview::default() }, permits).await?;
        let status = review.status.unwrap_or_default();
        if let Some(error) = status.error.filter(|error| !error.is_empty()) {
            // An authenticator can repeat the token in its error.
            tracing::debug!(error = error.replace(token, "<token>"), "a token is not authenticated");
        }
        Ok(status.user.filter(|_| status.authenticated == Some(true)))
    }

    /// Returns whether an access is allowed.
    pub(super) async fn review_access(&self, spec: SubjectAccessReviewSpec) -> Result<bool, ReviewError> {
        let review = SubjectAccessReview { spec, ..SubjectAccessReview::default() };
        let review = self.create(review, Some(&self.accesses)).await?;
        let status = review.status.unwrap_or_default();
        if let Some(error) = status.evaluation_error.filter(|error| !error.is_empty()) {
            tracing::warn!(error, "an access was evaluated with an error");
        }
        Ok(status.allowed && status.denied != Some(true))
    }

    /// Creates a review with retries.
    async fn create<K>(&self, review: K, permits: Option<&Semaphore>) -> Result<K, ReviewError>
    where
        K: Resource<DynamicType = ()> + Serialize + DeserializeOwned,
    {
        let resource = || K::plural(&()).into_owned();
        let created = timeout(TIMEOUT, async {
            // Never closed: without a permit, the number is not limited.
            let _permit = match permits {
                Some(permits) => permits.acquire().await.ok(),
                None => None,
            };
            create_with_retries(&self.client, &review).await
        });
        match created.await {
            Ok(Ok(review)) => Ok(review),
            Ok(Err(error)) if code(&error) == Some(403) => Err(ReviewError::MissingPermission {
                resource: resource(),
                group: K::group(&()).into_owned(),
                source: Box::new(error),
            }),
            Ok(Err(error)) => Err(ReviewError::Request { resource: resource(), source: Box::new(error) }),
            Err(_) => Err(ReviewError::Timeout { resource: resource(), timeout: TIMEOUT }),
        }
    }
}

async fn create_with_retries<K>(client: &Client, review: &K) -> Result<K, kube::Error>
where
    K: Resource<DynamicType = ()> + Serialize + DeserializeOwned,
{
    let mut attempt = 1;
    loop {
        match create(client, review).await {
            Err(error) if attempt < ATTEMPTS && is_temporary(&error) => {
                sleep(delay(attempt)).await;
                attempt += 1;
            }
            result => return result,
        }
    }
}

/// Sends the request of a review. The response can contain the token: kube would log one that it cannot decode, and
/// the error of the decoder can quote a value.
async fn create<K>(client: &Client, review: &K) -> Result<K, kube::Error>
where
    K: Resource<DynamicType = ()> + Serialize + DeserializeOwned,
{
    let body = serde_json::to_vec(review).map_err(kube::Error::SerdeError)?;
    let request = kube::core::Request::new(K::url_path(&(), None)).create(&PostParams::default(), body);
    let text = client.request_text(request.map_err(kube::Error::BuildRequest)?).await?;
    serde_json::from_str(&text).map_err(|error| {
        let place = format!("cannot decode the response at line {} column {}", error.line(), error.column());
        kube::Error::SerdeError(serde_json::Error::custom(place))
    })
}

/// Returns the review of a user's access to a path.
pub(super) fn access_of(user: &UserInfo, verb: &str, path: &str) -> SubjectAccessReviewSpec {
    let attributes = NonResourceAttributes { path: Some(path.to_owned()), verb: Some(verb.to_owned()) };
    SubjectAccessReviewSpec {
        user: user.username.clone(),
        uid: user.uid.clone(),
        groups: user.groups.clone(),
        extra: user.extra.clone(),
        non_resource_attributes: Some(attributes),
        resource_attributes: None,
    }
}

/// Returns the delay after an attempt, the first of which is 1.
fn delay(attempt: u32) -> Duration {
    let factor = BACKOFF_FACTOR.powi(attempt.saturating_sub(1).min(ATTEMPTS).cast_signed());
    INITIAL_DELAY.mul_f64(factor * (1.0 + JITTER * fastrand::f64()))
}

/// Returns whether another attempt can succeed: without a response, or with a code of an overloaded server.
fn is_temporary(error: &kube::Error) -> bool {
    match code(error) {
        Some(code) => matches!(code, 429 | 500 | 502 | 503 | 504),
        None => matches!(error, kube::Error::HyperError(_) | kube::Error::Service(_)),
    }
}

fn code(error: &kube::Error) -> Option<u16> {
    match error {
        kube::Error::Api(status) => Some(status.code),
        _ => None,
    }
}

impl fmt::Debug for Reviews {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reviews").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use kubewright_apiserver::{ApiServer, Fault, Faults, Requests};

    use super::*;

    #[tokio::test]
    async fn an_error_of_the_decoder_does_not_quote_the_response() {
        let faults = Faults::new();
        let response = r#"{"spec": {"token": "secret"}, "status": "secret"}"#;
        faults.always(Requests::to("tokenreviews"), Fault::answer(200, response));
        let reviews = Reviews::new(ApiServer::new().client_with(faults.layer()));
        let error = reviews.review_token("secret", Permit::Needed).await.unwrap_err().to_string();
        assert!(error.starts_with("cannot create `tokenreviews`: "), "{error}");
        assert!(error.contains("cannot decode the response at line 1 column "), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }

    #[test]
    fn delays_grow_by_half_with_a_fifth_of_jitter() {
        for (attempt, millis) in [(1, 500.0), (2, 750.0), (3, 1125.0), (4, 1687.5)] {
            let delay = delay(attempt).as_secs_f64() * 1000.0;
            assert!((millis - 0.1..=millis * 1.2 + 0.1).contains(&delay), "{attempt}: {delay}");
        }
    }
}
