//! An HTTP client for the endpoints of agents: one request on a new connection.

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;
use http::{Request, StatusCode, header::HOST};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, time::timeout};

use crate::availability::Error;

/// Sends a request without a body, and returns the response as text.
///
/// # Errors
/// Fails if there is no response within the time.
pub async fn get(address: SocketAddr, path: &str, limit: Duration) -> Result<(StatusCode, String), Error> {
    send(address, Request::get(path).body(Full::default())?, limit).await
}

/// Sends a record of an application with its id, and returns the response as text.
///
/// # Errors
/// Fails if there is no response within the time. The record can be written nevertheless.
pub async fn post_activity(
    address: SocketAddr,
    id: &str,
    body: String,
    limit: Duration,
) -> Result<(StatusCode, String), Error> {
    let request = Request::post("/activity").header("idempotency-key", id).body(Full::from(body))?;
    send(address, request, limit).await
}

async fn send(
    address: SocketAddr,
    mut request: Request<Full<Bytes>>,
    limit: Duration,
) -> Result<(StatusCode, String), Error> {
    request.headers_mut().insert(HOST, address.to_string().parse()?);
    let exchange = async {
        let stream = TcpStream::connect(address).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let response = async move {
            let response = sender.send_request(request).await?;
            let status = response.status();
            Ok::<_, hyper::Error>((status, response.into_body().collect().await?.to_bytes()))
        };
        // The connection ends when the sender is dropped.
        let (response, closed) = tokio::join!(response, connection);
        let (status, body) = response?;
        drop(closed);
        Ok::<_, Error>((status, String::from_utf8(body.to_vec())?))
    };
    timeout(limit, exchange).await?
}
