//! One request and its answer on a connection.

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

use crate::{response::api_response::Body, server::api_server::ApiServer};

/// How many bytes of body the real server takes.
const BODY_BYTES: usize = 3 << 20;
/// From how many bytes on the real server compresses.
const GZIP_FROM: u64 = 128 << 10;

/// Answers one request.
pub(super) async fn answer(
    server: ApiServer,
    request: Request<Incoming>,
    stopped: Receiver<bool>,
) -> Result<Response<Body>, Infallible> {
    let takes_gzip = takes_gzip(&request);
    let (parts, body) = request.into_parts();
    let body = match Limited::new(body, BODY_BYTES).collect().await {
        Ok(body) => kube::client::Body::from(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => return Ok(too_large()),
        Err(error) => return Ok(refused(StatusCode::BAD_REQUEST, "BadRequest", &error.to_string())),
    };
    let response = server.respond(Request::from_parts(parts, body)).await;
    Ok(match response.body().size_hint().exact() {
        None => until(response, stopped),
        Some(length) if takes_gzip && length >= GZIP_FROM => gzip(response).await,
        Some(_) => response,
    })
}

/// A stream of events that ends when the server does.
fn until(response: Response<Body>, mut stopped: Receiver<bool>) -> Response<Body> {
    response.map(|body| {
        let end = async move {
            // The sender ends with the server, too.
            let _ = stopped.wait_for(|stopped| *stopped).await;
        };
        StreamBody::new(BodyStream::new(body).take_until(Box::pin(end))).boxed_unsync()
    })
}

fn takes_gzip(request: &Request<Incoming>) -> bool {
    let accepted = request.headers().get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accepted.split(',').any(|coding| coding.trim() == "gzip")
}

/// The answer, compressed quickly rather than well. A thread for work that blocks does it: a list may be large.
async fn gzip(response: Response<Body>) -> Response<Body> {
    let (mut parts, body) = response.into_parts();
    let Ok(body) = body.collect().await;
    let whole = body.to_bytes();
    let compress = {
        let whole = whole.clone();
        move || {
            let mut encoder = GzEncoder::new(Vec::with_capacity(whole.len() / 8), Compression::fast());
            encoder.write_all(&whole).and_then(|()| encoder.finish())
        }
    };
    let sent = match tokio::task::spawn_blocking(compress).await {
        Ok(Ok(compressed)) => {
            parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            parts.headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
            parts.headers.remove(CONTENT_LENGTH);
            Bytes::from(compressed)
        }
        _ => whole,
    };
    Response::from_parts(parts, Full::new(sent).boxed_unsync())
}

/// As the real server says it.
fn too_large() -> Response<Body> {
    let message = format!("Request entity too large: limit is {BODY_BYTES}");
    refused(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", &message)
}

/// The rest of the request is not read, so the connection ends with it.
fn refused(code: StatusCode, reason: &str, message: &str) -> Response<Body> {
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
