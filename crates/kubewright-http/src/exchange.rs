//! One request and its response: the peer, the body, the timeout, and panics of the service.

use std::{
    any::Any,
    future::{Future, poll_fn},
    io,
    net::IpAddr,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    time::Instant as StdInstant,
};

use bytes::Bytes;
use http::{
    Extensions, HeaderValue, Method, Request, Response, StatusCode,
    header::{CONNECTION, CONTENT_TYPE, USER_AGENT, X_CONTENT_TYPE_OPTIONS},
};
use http_body::Body as _;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use tokio::time::{Instant, timeout_at};
use tower_service::Service;

use crate::{
    admission::{Permit, Slot},
    body::{Body, BodyError},
    budget::Budget,
    peer::Peer,
    server::Config,
    service::{BoxService, ResponseBody},
    timed_stream::Phases,
    tracked_body::{InFlight, TrackedBody},
};

/// Responds to the requests of one connection.
pub(crate) struct Exchange {
    pub(crate) config: Arc<Config>,
    pub(crate) budget: Budget,
    pub(crate) address: IpAddr,
    pub(crate) slot: Arc<Slot>,
    pub(crate) phases: Phases,
    /// Whether the connection is encrypted.
    pub(crate) has_tls: bool,
    /// Added to each request.
    pub(crate) extensions: Extensions,
}

impl Exchange {
    /// Handles one request. It is not polled before the previous response of the connection has its parts.
    ///
    /// # Errors
    /// Another connection has replaced this one.
    pub(crate) async fn respond(
        self: Arc<Self>,
        service: BoxService,
        request: Request<Incoming>,
    ) -> io::Result<Response<TrackedBody>> {
        let peer = self.peer(&request);
        let permit = self.slot.begin(peer.client).ok_or(io::ErrorKind::ConnectionAborted)?;
        self.phases.begin_request();
        let in_flight = InFlight::new(permit, self.phases.clone());
        let started = StdInstant::now();
        let (mut parts, incoming) = request.into_parts();
        let (body, receipt) = Body::new(incoming, self.config.limits, &self.budget, &peer);
        parts.extensions.extend(self.extensions.clone());
        parts.extensions.insert(peer);
        let request = Request::from_parts(parts, body);
        let mut response = self.call(service, request, || receipt.is_complete()).await;
        if !receipt.is_complete() {
            // The rest of the body is not received.
            self.phases.linger();
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        self.config.observer.responded(response.status(), started.elapsed());
        Ok(self.track(response, in_flight))
    }

    fn peer(&self, request: &Request<Incoming>) -> Peer {
        let user_agent = request.headers().get(USER_AGENT).map(HeaderValue::as_bytes).unwrap_or_default();
        let client = self.slot.client(self.address, user_agent);
        Peer { address: self.address, client, has_tls: self.has_tls, is_reserved: self.slot.is_reserved }
    }

    /// Calls the service, and responds itself if it fails, panics or exceeds the timeout.
    async fn call(
        &self,
        mut service: BoxService,
        request: Request<Body>,
        is_received: impl Fn() -> bool,
    ) -> Response<ResponseBody> {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let server = &*self.config.name;
        match within(self.config.deadline(), catch_panic(async { service.call(request).await })).await {
            Some(Ok(Ok(response))) => response,
            Some(Ok(Err(error))) => {
                tracing::error!(server, %method, path, error, "a request failed");
                text(StatusCode::INTERNAL_SERVER_ERROR, "internal error\n")
            }
            Some(Err(panic)) => {
                let panic = panic_message(&*panic);
                tracing::error!(server, %method, path, panic, "a handler panicked");
                text(StatusCode::INTERNAL_SERVER_ERROR, "internal error\n")
            }
            None => self.timed_out(&method, &path, is_received()),
        }
    }

    fn timed_out(&self, method: &Method, path: &str, is_received: bool) -> Response<ResponseBody> {
        let timeout = self.config.limits.request_timeout;
        if !is_received {
            let error = BodyError::Timeout(timeout);
            return text(error.status(), format!("{error}\n"));
        }
        tracing::error!(server = &*self.config.name, %method, path, ?timeout, "a handler timed out");
        text(StatusCode::SERVICE_UNAVAILABLE, "the request timed out\n")
    }

    /// Tracks the response until it is written.
    fn track(&self, response: Response<ResponseBody>, mut in_flight: InFlight) -> Response<TrackedBody> {
        let is_stream = response.body().size_hint().exact().is_none();
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            self.slot.keep();
        }
        match is_stream {
            true => {
                self.phases.begin_stream();
                in_flight.permit_mut().map(Permit::begin_stream);
            }
            false => self.phases.begin_response(),
        }
        response.map(|body| TrackedBody::new(body, in_flight))
    }
}

/// Awaits a future, and returns its panic.
async fn catch_panic<F: Future>(future: F) -> Result<F::Output, Box<dyn Any + Send>> {
    let mut future = pin!(future);
    // The future is not polled again after a panic.
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(polled) => polled.map(Ok),
        Err(panic) => std::task::Poll::Ready(Err(panic)),
    })
    .await
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown")
}

/// Awaits a future; `None` if the deadline passes before. There is none for a timeout too long to be represented.
async fn within<F: Future>(deadline: Option<Instant>, future: F) -> Option<F::Output> {
    match deadline {
        Some(deadline) => timeout_at(deadline, future).await.ok(),
        None => Some(future.await),
    }
}

/// Returns a response in plain text, which browsers do not interpret as another type.
fn text(status: StatusCode, body: impl Into<Bytes>) -> Response<ResponseBody> {
    let mut response = Response::new(Full::new(body.into()).map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
