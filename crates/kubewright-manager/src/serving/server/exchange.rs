//! One request and its response: the limit of the body, the timeout, and panics of the handler.

use std::{any::Any, convert::Infallible, panic::AssertUnwindSafe, sync::Arc};

use bytes::Bytes;
use futures::FutureExt;
use http::{
    HeaderValue, Method, Request, Response, StatusCode,
    header::{CONNECTION, X_CONTENT_TYPE_OPTIONS},
};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use kubewright_runtime::error::panic_message;
use tokio::time::{Instant, timeout_at};

use super::{config::ServerConfig, timed_stream::Phases};
use crate::serving::{handler::text, router::Router};

/// Responds to the requests of one connection.
pub(super) struct Exchange {
    config: Arc<ServerConfig>,
    router: Arc<Router>,
    phases: Phases,
}

/// Why a body cannot be used.
enum BodyError {
    TooLarge,
    Incomplete,
    Timeout,
}

impl Exchange {
    pub(super) fn new(config: Arc<ServerConfig>, router: Arc<Router>, phases: Phases) -> Self {
        Exchange { config, router, phases }
    }

    pub(super) async fn respond(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, Infallible> {
        self.phases.begin_request();
        let deadline = Instant::now().checked_add(self.config.request_timeout);
        let mut response = match self.receive(request, deadline).await {
            Ok(request) => self.handle(request, deadline).await,
            Err(error) => self.reject(error),
        };
        // Browsers must not interpret responses as another type.
        response.headers_mut().entry(X_CONTENT_TYPE_OPTIONS).or_insert(HeaderValue::from_static("nosniff"));
        self.phases.end_request();
        Ok(response.map(Full::new))
    }

    /// Receives the body.
    async fn receive(
        &self,
        request: Request<Incoming>,
        deadline: Option<Instant>,
    ) -> Result<Request<Bytes>, BodyError> {
        let (parts, body) = request.into_parts();
        let limit = self.config.max_body_size;
        // A declared length that exceeds the limit is rejected before the body is sent.
        if body.size_hint().lower() > u64::try_from(limit).unwrap_or(u64::MAX) {
            return Err(BodyError::TooLarge);
        }
        match within(deadline, Limited::new(body, limit).collect()).await {
            Some(Ok(body)) => Ok(Request::from_parts(parts, body.to_bytes())),
            Some(Err(error)) if error.is::<LengthLimitError>() => Err(BodyError::TooLarge),
            Some(Err(_)) => Err(BodyError::Incomplete),
            None => Err(BodyError::Timeout),
        }
    }

    /// Returns the last response of the connection, since the body was not read completely.
    fn reject(&self, error: BodyError) -> Response<Bytes> {
        self.phases.linger();
        let (status, body) = match error {
            BodyError::TooLarge => {
                (StatusCode::PAYLOAD_TOO_LARGE, format!("the body exceeds {} bytes\n", self.config.max_body_size))
            }
            BodyError::Incomplete => (StatusCode::BAD_REQUEST, "the body is incomplete\n".to_owned()),
            BodyError::Timeout => (
                StatusCode::REQUEST_TIMEOUT,
                format!("the request was not received within {:?}\n", self.config.request_timeout),
            ),
        };
        let mut response = text(status, body);
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        response
    }

    async fn handle(&self, request: Request<Bytes>, deadline: Option<Instant>) -> Response<Bytes> {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let handled = AssertUnwindSafe(self.router.respond(request)).catch_unwind();
        match within(deadline, handled).await {
            Some(Ok(response)) => response,
            Some(Err(panic)) => self.panicked(&method, &path, &*panic),
            None => {
                let server = &self.config.name;
                tracing::error!(server, %method, path, timeout = ?self.config.request_timeout, "a handler timed out");
                text(StatusCode::SERVICE_UNAVAILABLE, "the request timed out\n")
            }
        }
    }

    fn panicked(&self, method: &Method, path: &str, panic: &(dyn Any + Send)) -> Response<Bytes> {
        let message = panic_message(panic);
        tracing::error!(server = self.config.name, %method, path, panic = message, "a handler panicked");
        text(StatusCode::INTERNAL_SERVER_ERROR, "internal error\n")
    }
}

/// Awaits a future; `None` if the deadline passes before. There is none for a timeout too long to be represented.
async fn within<F: Future>(deadline: Option<Instant>, future: F) -> Option<F::Output> {
    match deadline {
        Some(deadline) => timeout_at(deadline, future).await.ok(),
        None => Some(future.await),
    }
}
