//! The exchange of one request and its response.

use std::{io::Write, sync::Arc};

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use futures::StreamExt;
use http::{
    HeaderMap, HeaderValue, Method, Request, Response, StatusCode,
    header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, RETRY_AFTER, VARY, X_CONTENT_TYPE_OPTIONS},
};
use http_body::Body as _;
use http_body_util::{BodyExt, BodyStream, StreamBody};
use kubewright_http::{BodyError, Peer};
use tokio_util::sync::CancellationToken;

use crate::{
    response::body::{Body, full, response},
    server::{
        api_server::ApiServer,
        serve::{
            admission::{Admission, RequestPermit},
            error_response::error_response,
            kubelet, web_page,
        },
    },
    wire::MAX_BODY_BYTES,
};

/// The minimum size of a compressed response, as on the real server.
const MIN_GZIP_BYTES: u64 = 128 << 10;

/// The bytes of a response. They are dropped when they are written to the socket.
struct ResponseBytes {
    bytes: Bytes,
    _permit: RequestPermit,
}

impl AsRef<[u8]> for ResponseBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Responds to requests on a socket.
pub(super) struct Exchange {
    pub(super) server: ApiServer,
    pub(super) admission: Arc<Admission>,
    /// Cancelled when the server stops.
    pub(super) stopping: CancellationToken,
}

impl Exchange {
    /// Handles one request. It is in flight until its response is written, or its watch starts.
    pub(super) async fn respond(self: Arc<Self>, request: Request<kubewright_http::Body>) -> Response<Body> {
        let Some(peer) = request.extensions().get::<Peer>().copied() else { return too_many_requests() };
        let is_mutating = !matches!(*request.method(), Method::GET | Method::HEAD);
        let Some(permit) = self.admission.begin(peer.client, is_mutating) else { return too_many_requests() };
        let accepts_gzip = accepts_gzip(request.headers());
        let has_body = !request.body().is_end_stream();
        let (parts, body) = request.into_parts();
        let rejection = if peer.has_tls { None } else { web_page::rejection(&parts, has_body) };
        let response = match rejection {
            Some(rejection) => rejection,
            None => match body.collect().await {
                Ok(body) => self.handle(Request::from_parts(parts, body.to_bytes().into())).await,
                Err(error) => body_error(&error),
            },
        };
        match response.body().size_hint().exact() {
            None => self.watch(response),
            Some(length) => {
                let is_compressed = accepts_gzip && length >= MIN_GZIP_BYTES;
                let response = if is_compressed { gzip(response).await } else { response };
                track(response, permit).await
            }
        }
    }

    /// Responds to a received request, or has a kubelet respond.
    async fn handle(&self, request: Request<kube::client::Body>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        match kubelet::pod_of_log(&parts) {
            Some(pod) => match self.server.denial(&parts) {
                Some(denial) => denial,
                None => kubelet::log(&self.server.as_administrator(), pod, &parts).await,
            },
            None => self.server.clone().respond(Request::from_parts(parts, body)).await,
        }
    }

    /// Ends the stream of events of a response when the server stops.
    fn watch(&self, response: Response<Body>) -> Response<Body> {
        let stopped = self.stopping.clone().cancelled_owned();
        response.map(|body| {
            let events = BodyStream::new(body).take_until(Box::pin(stopped));
            StreamBody::new(events).boxed_unsync()
        })
    }
}

/// Keeps a request in flight until its response is written.
async fn track(response: Response<Body>, permit: RequestPermit) -> Response<Body> {
    let (parts, body) = response.into_parts();
    let Ok(body) = body.collect().await;
    let bytes = body.to_bytes();
    if bytes.is_empty() {
        return Response::from_parts(parts, full(bytes));
    }
    Response::from_parts(parts, full(Bytes::from_owner(ResponseBytes { bytes, _permit: permit })))
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
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

/// Returns the error of the real server for a body that cannot be received.
fn body_error(error: &BodyError) -> Response<Body> {
    let (code, reason, message) = match error {
        BodyError::TooLarge(_) => {
            let message = format!("Request entity too large: limit is {MAX_BODY_BYTES}");
            (StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", message)
        }
        BodyError::Timeout(_) => {
            let message = "Timeout: request did not complete within the allotted timeout".to_owned();
            (StatusCode::GATEWAY_TIMEOUT, "Timeout", message)
        }
        BodyError::Incomplete(error) => (StatusCode::BAD_REQUEST, "BadRequest", error.to_string()),
    };
    error_response(code, reason, &message)
}

/// Returns the response of the real server for more requests in flight than allowed.
fn too_many_requests() -> Response<Body> {
    let text = full("Too many requests, please try again later.\n");
    let mut response = response(StatusCode::TOO_MANY_REQUESTS, "text/plain; charset=utf-8", text);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
