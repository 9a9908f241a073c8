//! Handlers: functions from a request with its complete body to a response.

use std::future::Future;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{HeaderValue, Request, Response, StatusCode, header::CONTENT_TYPE};

/// Responds to requests. A function `async fn(Request<Bytes>) -> Response<Bytes>` is a handler.
///
/// A panic is logged and answered with code 500; it ends neither the connection nor the server.
pub trait Handler: Send + Sync + 'static {
    /// Responds to a request.
    fn handle(&self, request: Request<Bytes>) -> BoxFuture<'_, Response<Bytes>>;

    /// Whether the API server reviews the tokens of requests, which needs permissions. `false` by default.
    fn is_authenticated(&self) -> bool {
        false
    }
}

impl<F, R> Handler for F
where
    F: Fn(Request<Bytes>) -> R + Send + Sync + 'static,
    R: Future<Output = Response<Bytes>> + Send + 'static,
{
    fn handle(&self, request: Request<Bytes>) -> BoxFuture<'_, Response<Bytes>> {
        Box::pin(self(request))
    }
}

/// Returns a response in plain text.
#[must_use]
pub fn text(status: StatusCode, body: impl Into<Bytes>) -> Response<Bytes> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
