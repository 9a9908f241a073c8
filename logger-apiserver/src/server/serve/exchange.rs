//! The exchange of one request and its response on a connection.

use std::{convert::Infallible, io::Write};

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use futures::StreamExt;
use http::{
    HeaderValue, Request, Response, StatusCode,
    header::{ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, VARY},
};
use http_body::Body as _;
use http_body_util::{BodyExt, BodyStream, Full, LengthLimitError, Limited, StreamBody};
use hyper::body::Incoming;
use serde_json::json;
use tokio::sync::watch::Receiver;

use super::kubelet;
use crate::{response::api_response::Body, server::api_server::ApiServer};
use crate::{response::api_response::Body, server::api_server::ApiServer, wire::body::MAX_BODY_BYTES};

/// The minimum size of a compressed response, as on the real server.
const MIN_GZIP_BYTES: u64 = 128 << 10;

/// Handles one request.
pub(super) async fn respond(
    server: ApiServer,
    request: Request<Incoming>,
    stopped: Receiver<bool>,
) -> Result<Response<Body>, Infallible> {
    let accepts_gzip = accepts_gzip(&request);
    let (parts, body) = request.into_parts();
    let body = match Limited::new(body, MAX_BODY_BYTES).collect().await {
        Ok(body) => kube::client::Body::from(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => return Ok(too_large()),
        Err(error) => return Ok(error_response(StatusCode::BAD_REQUEST, "BadRequest", &error.to_string())),
    };
    let response = match kubelet::pod_of_log(&parts) {
        Some(pod) => match server.denial(&parts) {
            Some(denial) => denial,
            None => kubelet::log(&server, pod, &parts).await,
        },
        None => server.respond(Request::from_parts(parts, body)).await,
    };
    Ok(match response.body().size_hint().exact() {
        None => stream_until(response, stopped),
        Some(length) if accepts_gzip && length >= MIN_GZIP_BYTES => gzip(response).await,
        Some(_) => response,
    })
}

/// Ends the stream of events of a response when the server stops.
fn stream_until(response: Response<Body>, mut stopped: Receiver<bool>) -> Response<Body> {
    response.map(|body| {
        let end = async move {
            // A dropped sender means that the server has stopped.
            let _ = stopped.wait_for(|stopped| *stopped).await;
        };
        StreamBody::new(BodyStream::new(body).take_until(Box::pin(end))).boxed_unsync()
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
    Response::from_parts(parts, Full::new(bytes).boxed_unsync())
}

/// Returns the error of the real server for a body that is too large.
fn too_large() -> Response<Body> {
    let message = format!("Request entity too large: limit is {MAX_BODY_BYTES}");
    error_response(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", &message)
}

/// Returns an error response. It closes the connection, since the rest of the request may not be read.
pub(super) fn error_response(code: StatusCode, reason: &str, message: &str) -> Response<Body> {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code.as_u16(),
    });
    let mut response = Response::new(Full::new(Bytes::from(status.to_string())).boxed_unsync());
    *response.status_mut() = code;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
