//! Services of other projects, and upgraded connections.

use axum::{Router, extract::Path, routing::get};
use bytes::Bytes;
use http::{Request, Response, StatusCode, header::UPGRADE};
use http_body_util::Empty;
use hyper::upgrade;
use hyper_util::rt::TokioIo;
use kubewright_http::{Body, BoxService};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::fixture::Running;

#[tokio::test]
async fn an_axum_router_is_served() {
    let router = Router::new()
        .route("/greet/{name}", get(|Path(name): Path<String>| async move { format!("hello {name}") }))
        .route("/echo", axum::routing::post(|body: Bytes| async move { body }));
    let running = Running::start_service(BoxService::new(router));
    assert!(running.get("/greet/jane").await.ends_with("\r\n\r\nhello jane"));
    assert!(running.get("/other").await.starts_with("HTTP/1.1 404 "));
    let mut client = running.connect().await;
    client.send("POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nhello").await;
    client.read_until("\r\n\r\nhello").await;
}

/// Sends back what the client of an upgraded connection sends.
async fn echo(mut request: Request<Body>) -> Response<Empty<Bytes>> {
    let upgraded = upgrade::on(&mut request);
    tokio::spawn(async move {
        let mut stream = TokioIo::new(upgraded.await.unwrap());
        let mut bytes = [0; 5];
        stream.read_exact(&mut bytes).await.unwrap();
        stream.write_all(&bytes).await.unwrap();
    });
    let response = Response::builder().status(StatusCode::SWITCHING_PROTOCOLS).header(UPGRADE, "echo");
    response.body(Empty::new()).unwrap()
}

#[tokio::test]
async fn an_upgraded_connection_belongs_to_the_service() {
    let running = Running::start_service(BoxService::from_fn(echo));
    let mut client = running.connect().await;
    client.send("GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n").await;
    assert!(client.read_until("\r\n\r\n").await.starts_with("HTTP/1.1 101 "));
    running.stop().await.unwrap();
    client.send("hello").await;
    assert_eq!(client.read_to_end().await, "hello", "the connection outlives the server");
}
