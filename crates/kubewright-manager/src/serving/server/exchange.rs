//! One request and its response: its route, the memory of the body, the timeout, and panics of the handler.

use std::{any::Any, convert::Infallible, net::IpAddr, panic::AssertUnwindSafe, sync::Arc};

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

use super::{
    bodies::{Bodies, Reservation},
    config::ServerConfig,
    timed_stream::Phases,
};
use crate::serving::{
    handler::{Handler, text},
    router::{Route, Router},
};

/// Responds to the requests of one connection.
pub(super) struct Exchange {
    pub(super) config: Arc<ServerConfig>,
    pub(super) router: Arc<Router>,
    pub(super) bodies: Bodies,
    pub(super) peer: IpAddr,
    pub(super) phases: Phases,
}

/// Why a body cannot be used.
enum BodyError {
    TooLarge,
    Incomplete,
    Timeout,
}

impl Exchange {
    pub(super) async fn respond(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, Infallible> {
        self.phases.begin_request();
        let deadline = Instant::now().checked_add(self.config.request_timeout);
        let mut response = match self.router.route(request.method(), request.uri().path()) {
            Route::Handler(handler) => match self.receive(request, deadline).await {
                Ok((request, _reservation)) => self.handle(&*handler, request, deadline).await,
                Err(error) => self.reject(error),
            },
            // Without a handler, the body is not received.
            other => self.without_body(&request, other.into_response()),
        };
        // Browsers must not interpret responses as another type.
        response.headers_mut().entry(X_CONTENT_TYPE_OPTIONS).or_insert(HeaderValue::from_static("nosniff"));
        self.phases.end_request();
        Ok(response.map(Full::new))
    }

    /// Receives the body, when there is memory for it.
    async fn receive(
        &self,
        request: Request<Incoming>,
        deadline: Option<Instant>,
    ) -> Result<(Request<Bytes>, Reservation), BodyError> {
        let (parts, body) = request.into_parts();
        let limit = self.config.max_body_size;
        let fits = |bytes: u64| usize::try_from(bytes).ok().filter(|bytes| *bytes <= limit);
        // A declared length that exceeds the limit is rejected before the body is sent.
        let size = body.size_hint();
        fits(size.lower()).ok_or(BodyError::TooLarge)?;
        let bytes = size.upper().and_then(fits).unwrap_or(limit);
        let reservation = within(deadline, self.bodies.reserve(self.peer, bytes)).await.ok_or(BodyError::Timeout)?;
        let reservation = reservation.ok_or(BodyError::TooLarge)?;
        match within(deadline, Limited::new(body, limit).collect()).await {
            Some(Ok(body)) => Ok((Request::from_parts(parts, body.to_bytes()), reservation)),
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
        closing(text(status, body))
    }

    /// Returns the response to a request whose body is not received: the last one of the connection if there is a body.
    fn without_body(&self, request: &Request<Incoming>, response: Response<Bytes>) -> Response<Bytes> {
        if request.body().is_end_stream() {
            return response;
        }
        self.phases.linger();
        closing(response)
    }

    async fn handle(
        &self,
        handler: &dyn Handler,
        request: Request<Bytes>,
        deadline: Option<Instant>,
    ) -> Response<Bytes> {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        // A handler can panic before it returns its future.
        let handled = AssertUnwindSafe(async { handler.handle(request).await }).catch_unwind();
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

fn closing(mut response: Response<Bytes>) -> Response<Bytes> {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Awaits a future; `None` if the deadline passes before. There is none for a timeout too long to be represented.
async fn within<F: Future>(deadline: Option<Instant>, future: F) -> Option<F::Output> {
    match deadline {
        Some(deadline) => timeout_at(deadline, future).await.ok(),
        None => Some(future.await),
    }
}
