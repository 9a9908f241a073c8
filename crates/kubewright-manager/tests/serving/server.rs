//! Addresses, routes and panics.

use std::future::Ready;

use axum::{
    extract::Path,
    routing::{get, post},
};
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use kubewright_manager::serving::{Router, Server, ServerConfig, ServerError, handler::text};

use crate::fixture::{Running, config, echo, request, router};

#[tokio::test]
async fn the_server_listens_on_the_loopback_interface_unless_configured() {
    let server = Server::bind(ServerConfig::new("test", 0), router()).unwrap();
    assert!(server.local_address().ip().is_loopback());
    assert_ne!(server.local_address().port(), 0);
    let all = ServerConfig::new("test", 0).address(([0, 0, 0, 0], 0));
    assert!(Server::bind(all, router()).unwrap().local_address().ip().is_unspecified());
}

#[tokio::test]
async fn a_port_in_use_is_an_error_that_names_the_address() {
    let running = Running::start(config(), router()).await;
    let port = running.address.port();
    let error = Server::bind(ServerConfig::new("metrics", port), router()).unwrap_err();
    assert!(matches!(error, ServerError::Bind { address, .. } if address == running.address), "{error:?}");
    let begin = format!("the server `metrics` cannot listen on 127.0.0.1:{port}: ");
    assert!(error.to_string().starts_with(&begin), "{error}");
    assert!(error.to_string().ends_with("; stop the other process or configure another port"), "{error}");
}

#[tokio::test]
async fn an_invalid_route_is_an_error_of_bind() {
    let twice = router().get("/echo", echo());
    let error = Server::bind(config(), twice).unwrap_err().to_string();
    let expected = "the server `test` has an invalid route: `GET /echo` has two handlers; register each path once";
    assert_eq!(error, expected);
}

#[tokio::test]
async fn requests_are_routed_and_share_a_connection() {
    let running = Running::start(config(), router()).await;
    let mut client = running.client().await;
    assert_eq!(client.request(Method::POST, "/echo", "hello").await, (200, "hello".to_owned()));
    assert_eq!(client.get("/echo").await, (200, String::new()));
    assert_eq!(client.get("/other").await.0, 404);
    assert_eq!(client.request(Method::PUT, "/echo", "hello").await.0, 405);
    running.stop().await.unwrap();
}

#[tokio::test]
async fn a_response_to_head_has_no_body() {
    let router = Router::new().get("/text", |_: Request<Bytes>| async { text(StatusCode::OK, "text") });
    let running = Running::start(config(), router).await;
    let response = running.client().await.send(request(Method::HEAD, "/text", "")).await.unwrap();
    assert_eq!((response.status().as_u16(), response.headers()["content-length"].as_bytes()), (200, &b"4"[..]));
    assert_eq!(response.headers()["x-content-type-options"], "nosniff");
    assert!(response.body().is_empty());
}

#[tokio::test]
async fn an_axum_router_is_mounted_at_a_prefix() {
    let api = axum::Router::new()
        .route("/api/greet/{name}", get(|Path(name): Path<String>| async move { format!("hello {name}") }))
        .route("/api/echo", post(|body: Bytes| async move { body }));
    let running = Running::start(config(), router().mount("/api", api)).await;
    let mut client = running.client().await;
    assert_eq!(client.get("/api/greet/jane").await, (200, "hello jane".to_owned()));
    assert_eq!(client.request(Method::POST, "/api/echo", "hello").await, (200, "hello".to_owned()));
    assert_eq!(client.get("/api/other").await.0, 404);
    assert_eq!(client.request(Method::POST, "/echo", "handler").await, (200, "handler".to_owned()));
    running.stop().await.unwrap();
}

async fn panics(_: Request<Bytes>) -> Response<Bytes> {
    panic!("while it is polled");
}

#[tokio::test]
async fn a_panic_is_answered_and_the_connection_and_the_server_continue() {
    let panics_at_once = |_: Request<Bytes>| -> Ready<Response<Bytes>> { panic!("before it returns") };
    let router = router().get("/async", panics).get("/sync", panics_at_once);
    let running = Running::start(config(), router).await;
    let mut client = running.client().await;
    let expected = (500, "internal error\n".to_owned());
    assert_eq!(client.get("/async").await, expected);
    assert_eq!(client.get("/sync").await, expected);
    assert_eq!(client.request(Method::POST, "/echo", "again").await, (200, "again".to_owned()));
    assert_eq!(running.get("/echo").await.0, 200);
    running.stop().await.unwrap();
}
