//! Retries of requests by client-go's rule: only if the server asks for it.

mod no_proxy;

use std::time::Duration;

use http::{Method, Request, Response, StatusCode, header::RETRY_AFTER};
use kube::{
    Client, Config,
    client::{Body, ClientBuilder},
};
use tokio::time::{Sleep, sleep};
use tower::{
    BoxError,
    buffer::BufferLayer,
    retry::{Policy, RetryLayer},
    util::option_layer,
};

pub(crate) use no_proxy::apply_no_proxy;

/// The number of retries of client-go.
const MAX_RETRIES: u32 = 10;
/// The delay before the first retry if `Retry-After` is shorter. It doubles with each retry.
const MIN_DELAY: Duration = Duration::from_millis(5);
/// The capacity of the buffer below the retries: that of kube's own buffer.
const BUFFER: usize = 1024;

/// Creates a client that retries by the rule of [`RetryPolicy`], and otherwise is that of [`Client::try_from`].
///
/// kube's own policy also repeats requests after 503 and 504 without `Retry-After`, even a create that the server has
/// processed. Without `default_retry` of the configuration, no request is retried.
///
/// With a proxy from the variable `HTTPS_PROXY`, `NO_PROXY` contains the servers to which the client connects directly.
/// kube 5.0 compares it with the proxy instead.
///
/// # Errors
/// Fails if the configuration is invalid, as for any client.
///
/// # Panics
/// Panics outside a tokio runtime, as for any client.
pub fn client_from_config(mut config: Config) -> Result<Client, kube::Error> {
    apply_no_proxy(&mut config);
    let retry = take_retry(&mut config);
    let builder = ClientBuilder::try_from(config)?.with_layer(&BufferLayer::<Request<Body>>::new(BUFFER));
    Ok(builder.with_layer(&option_layer(retry)).build())
}

/// Returns the layer of the retries, which replaces that of kube, unless the configuration disables retries.
pub(crate) fn take_retry(config: &mut Config) -> Option<RetryLayer<RetryPolicy>> {
    std::mem::take(&mut config.default_retry).then(|| RetryLayer::new(RetryPolicy::default()))
}

/// Retries a request that the server rejected with a `Retry-After`, as client-go: up to 10 times, after 429 or any 5xx.
///
/// Guarantees:
/// - a response without `Retry-After` is not retried: a gateway that responds with 504 can have forwarded the request;
/// - a POST is retried after 429 only: a server can create the object and respond with 5xx, and the repeated create of
///   an object with `generateName` would create another one. client-go repeats it if there is a `Retry-After`;
/// - a request without a response is not retried.
#[derive(Clone, Debug, Default)]
pub struct RetryPolicy {
    retries: u32,
}

impl<R> Policy<Request<Body>, Response<R>, BoxError> for RetryPolicy {
    type Future = Sleep;

    fn retry(&mut self, request: &mut Request<Body>, result: &mut Result<Response<R>, BoxError>) -> Option<Sleep> {
        let response = result.as_ref().ok()?;
        let after = retry_after(request.method(), response).filter(|_| self.retries < MAX_RETRIES)?;
        let delay = after.max(MIN_DELAY * 2_u32.pow(self.retries));
        self.retries += 1;
        Some(sleep(delay))
    }

    fn clone_request(&mut self, request: &Request<Body>) -> Option<Request<Body>> {
        // A body that is a stream cannot be sent again.
        let mut clone = Request::new(request.body().try_clone()?);
        *clone.method_mut() = request.method().clone();
        *clone.uri_mut() = request.uri().clone();
        *clone.version_mut() = request.version();
        *clone.headers_mut() = request.headers().clone();
        *clone.extensions_mut() = request.extensions().clone();
        Some(clone)
    }
}

/// Returns the `Retry-After` of a response after which the request can be repeated.
fn retry_after<R>(method: &Method, response: &Response<R>) -> Option<Duration> {
    let status = response.status();
    let is_unprocessed = status == StatusCode::TOO_MANY_REQUESTS;
    if !(is_unprocessed || status.is_server_error() && method != Method::POST) {
        return None;
    }
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.parse::<u32>().ok()?;
    Some(Duration::from_secs(seconds.into()))
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    /// Returns the delay before a retry.
    fn delay(policy: &mut RetryPolicy, method: Method, code: u16, retry_after: Option<&str>) -> Option<Duration> {
        let mut request = Request::new(Body::empty());
        *request.method_mut() = method;
        let mut response = Response::new(());
        *response.status_mut() = StatusCode::from_u16(code).unwrap();
        response.headers_mut().extend(retry_after.map(|value| (RETRY_AFTER, value.parse().unwrap())));
        let sleep = policy.retry(&mut request, &mut Ok(response))?;
        Some(sleep.deadline() - Instant::now())
    }

    fn is_retried(method: &Method, code: u16, retry_after: Option<&str>) -> bool {
        delay(&mut RetryPolicy::default(), method.clone(), code, retry_after).is_some()
    }

    #[tokio::test(start_paused = true)]
    async fn a_response_without_retry_after_is_not_retried() {
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            for code in [429, 500, 503, 504] {
                assert!(!is_retried(&method, code, None), "{method} {code}");
                assert!(!is_retried(&method, code, Some("Wed, 21 Oct 2015 07:28:00 GMT")), "{method} {code}");
            }
        }
        assert!(!is_retried(&Method::GET, 200, Some("1")));
        assert!(!is_retried(&Method::GET, 404, Some("1")));
    }

    #[tokio::test(start_paused = true)]
    async fn a_post_is_retried_after_429_only() {
        for method in [Method::GET, Method::PUT, Method::PATCH, Method::DELETE] {
            assert!([429, 500, 503, 504].into_iter().all(|code| is_retried(&method, code, Some("1"))), "{method}");
        }
        assert!(is_retried(&Method::POST, 429, Some("1")));
        assert!(![500, 503, 504].into_iter().any(|code| is_retried(&Method::POST, code, Some("1"))));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_without_a_response_is_not_retried() {
        let mut request = Request::new(Body::empty());
        let mut result: Result<Response<()>, BoxError> = Err("connection reset".into());
        assert!(RetryPolicy::default().retry(&mut request, &mut result).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn retries_wait_for_retry_after_and_end_after_ten() {
        let mut policy = RetryPolicy::default();
        assert_eq!(delay(&mut policy, Method::GET, 429, Some("7")), Some(Duration::from_secs(7)));
        assert_eq!(delay(&mut policy, Method::GET, 429, Some("0")), Some(2 * MIN_DELAY));
        let further = (0..20).filter(|_| delay(&mut policy, Method::GET, 429, Some("0")).is_some()).count();
        assert_eq!(further, 8);
    }
}
