//! The exchange of one request and its response on a connection.

use std::{
    io::{self, Write},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use futures::StreamExt;
use http::{
    HeaderValue, Method, Request, Response, StatusCode,
    header::{
        ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, RETRY_AFTER, USER_AGENT, VARY,
        X_CONTENT_TYPE_OPTIONS,
    },
};
use http_body::Body as _;
use http_body_util::{BodyExt, BodyStream, LengthLimitError, Limited, StreamBody};
use hyper::body::Incoming;
use serde_json::json;
use tokio::time::timeout;

use crate::{
    response::api_response::{Body, full, response},
    server::serve::{
        admission::{Rejection, RequestPermit, WatchPermit},
        connection::Connection,
        kubelet, web_page,
    },
    wire::body::MAX_BODY_BYTES,
};

/// The minimum size of a compressed response, as on the real server.
const MIN_GZIP_BYTES: u64 = 128 << 10;

/// Why a request body cannot be used.
enum BodyError {
    TooLarge,
    Timeout,
    Unreadable(String),
}

/// An admitted request. On drop, its response is written, or its watch has ended.
struct InFlight<P> {
    _permit: P,
    connection: Arc<Connection>,
}

impl<P> Drop for InFlight<P> {
    fn drop(&mut self) {
        self.connection.await_request();
    }
}

/// The bytes of a response. hyper drops them when they are written to the socket.
struct ResponseBytes {
    bytes: Bytes,
    _in_flight: InFlight<RequestPermit>,
}

impl AsRef<[u8]> for ResponseBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Handles one request. It is not polled before the previous response of the connection is written.
///
/// # Errors
/// Another connection has replaced this one.
pub(super) async fn respond(connection: Arc<Connection>, request: Request<Incoming>) -> io::Result<Response<Body>> {
    connection.begin_request();
    let permit = match admit(&connection, &request) {
        Ok(permit) => permit,
        Err(Rejection::Replaced) => return Err(io::ErrorKind::ConnectionAborted.into()),
        Err(Rejection::TooManyRequests) => {
            connection.await_request();
            return Ok(too_many_requests(request.body().is_end_stream()));
        }
    };
    let accepts_gzip = accepts_gzip(&request);
    let has_body = !request.body().is_end_stream();
    let (parts, body) = request.into_parts();
    let rejection = if connection.has_tls { None } else { web_page::rejection(&parts, has_body) };
    let request_timeout = connection.admission.limits.request_timeout;
    let response = match rejection {
        Some(rejection) if has_body => closing(rejection),
        Some(rejection) => rejection,
        None => match receive(Request::from_parts(parts, body), request_timeout).await {
            Ok(request) => handle(&connection, request).await,
            Err(error) => error.into_response(),
        },
    };
    Ok(match response.body().size_hint().exact() {
        None => watch(response, InFlight { _permit: permit.into_watch(), connection }),
        Some(length) => {
            let is_compressed = accepts_gzip && length >= MIN_GZIP_BYTES;
            let response = if is_compressed { gzip(response).await } else { response };
            track(response, InFlight { _permit: permit, connection }).await
        }
    })
}

/// Responds to a received request, or has a kubelet respond.
async fn handle(connection: &Connection, request: Request<kube::client::Body>) -> Response<Body> {
    let server = connection.server.clone();
    let (mut parts, body) = request.into_parts();
    if let Some(certificate) = &connection.certificate {
        parts.extensions.insert(certificate.clone());
    }
    match kubelet::pod_of_log(&parts) {
        Some(pod) => match server.denial(&parts) {
            Some(denial) => denial,
            None => kubelet::log(&server.as_administrator(), pod, &parts).await,
        },
        None => server.respond(Request::from_parts(parts, body)).await,
    }
}

fn admit(connection: &Connection, request: &Request<Incoming>) -> Result<RequestPermit, Rejection> {
    let user_agent = request.headers().get(USER_AGENT).map(HeaderValue::as_bytes).unwrap_or_default();
    let client = connection.admission.client(connection.peer, user_agent);
    let is_mutating = !matches!(*request.method(), Method::GET | Method::HEAD);
    connection.admission.begin(connection.id, client, is_mutating)
}

/// Receives the body of a request.
async fn receive(
    request: Request<Incoming>,
    request_timeout: Duration,
) -> Result<Request<kube::client::Body>, BodyError> {
    let (parts, body) = request.into_parts();
    // A declared length that exceeds the limit is rejected before the body is sent.
    if body.size_hint().lower() > MAX_BODY_BYTES as u64 {
        return Err(BodyError::TooLarge);
    }
    match timeout(request_timeout, Limited::new(body, MAX_BODY_BYTES).collect()).await {
        Ok(Ok(body)) => Ok(Request::from_parts(parts, kube::client::Body::from(body.to_bytes()))),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(BodyError::TooLarge),
        Ok(Err(error)) => Err(BodyError::Unreadable(error.to_string())),
        Err(_) => Err(BodyError::Timeout),
    }
}

/// Keeps a request in flight until its response is written.
async fn track(response: Response<Body>, in_flight: InFlight<RequestPermit>) -> Response<Body> {
    let (parts, body) = response.into_parts();
    let Ok(body) = body.collect().await;
    let bytes = body.to_bytes();
    if bytes.is_empty() {
        return Response::from_parts(parts, full(bytes));
    }
    in_flight.connection.begin_response();
    Response::from_parts(parts, full(Bytes::from_owner(ResponseBytes { bytes, _in_flight: in_flight })))
}

/// Ends the stream of events of a response when the server stops.
fn watch(response: Response<Body>, watching: InFlight<WatchPermit>) -> Response<Body> {
    let mut stopped = watching.connection.stopped.clone();
    let end = async move {
        // A dropped sender means that the server has stopped.
        let _ = stopped.wait_for(|stopped| *stopped).await;
    };
    response.map(|body| {
        let events = BodyStream::new(body).take_until(Box::pin(end));
        // The stream owns the permit.
        StreamBody::new(events.inspect(move |_| _ = &watching)).boxed_unsync()
    })
}

fn accepts_gzip(request: &Request<Incoming>) -> bool {
    let accepted = request.headers().get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accepted.split(',').any(|coding| coding.trim() == "gzip")
}

/// Compresses a response, for speed rather than size. Runs on a blocking thread, since lists can be large.
async fn gzip(response: Response<Body>) -> Response<Body> {
    let (mut parts, body) = response.into_parts();
    let Ok(body) = body.collect().await;
    let uncompressed = body.to_bytes();
    let compress = {
        let uncompressed = uncompressed.clone();
        move || {
            let mut encoder = GzEncoder::new(Vec::with_capacity(uncompressed.len() / 8), Compression::fast());
            encoder.write_all(&uncompressed).and_then(|()| encoder.finish())
        }
    };
    let bytes = match tokio::task::spawn_blocking(compress).await {
        Ok(Ok(compressed)) => {
            parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            parts.headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
            parts.headers.remove(CONTENT_LENGTH);
            Bytes::from(compressed)
        }
        _ => uncompressed,
    };
    Response::from_parts(parts, full(bytes))
}

impl BodyError {
    /// Returns the error of the real server.
    fn into_response(self) -> Response<Body> {
        let (code, reason, message) = match self {
            Self::TooLarge => {
                let message = format!("Request entity too large: limit is {MAX_BODY_BYTES}");
                (StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", message)
            }
            Self::Timeout => {
                let message = "Timeout: request did not complete within the allotted timeout".to_owned();
                (StatusCode::GATEWAY_TIMEOUT, "Timeout", message)
            }
            Self::Unreadable(message) => (StatusCode::BAD_REQUEST, "BadRequest", message),
        };
        closing(error_response(code, reason, &message))
    }
}

/// Returns an error response.
pub(super) fn error_response(code: StatusCode, reason: &str, message: &str) -> Response<Body> {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code.as_u16(),
    });
    response(code, "application/json", full(status.to_string()))
}

/// Returns the response of the real server for more requests in flight than allowed.
fn too_many_requests(is_complete: bool) -> Response<Body> {
    let text = full("Too many requests, please try again later.\n");
    let mut response = response(StatusCode::TOO_MANY_REQUESTS, "text/plain; charset=utf-8", text);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if is_complete { response } else { closing(response) }
}

/// Makes a response the last one of its connection, since the rest of the request is not read.
fn closing(mut response: Response<Body>) -> Response<Body> {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
