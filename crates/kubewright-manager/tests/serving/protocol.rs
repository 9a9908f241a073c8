//! HTTP/1.1: pipelined requests, and methods without a handler.

use tokio::io::AsyncWriteExt;

use crate::fixture::{Running, SOON, config, read_to_end, router};

/// Returns the responses to these bytes, until the server closes the connection.
async fn exchange(running: &Running, requests: &str) -> String {
    let mut stream = running.connect().await;
    stream.write_all(requests.as_bytes()).await.unwrap();
    read_to_end(&mut stream).await
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let running = Running::start(config(), router()).await;
    let requests = "POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\na\
                    POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\nconnection: close\r\n\r\nb";
    let responses = exchange(&running, requests).await;
    let (first, second) = responses.split_once("\r\n\r\naHTTP/1.1 200 OK\r\n").expect("there are two responses");
    assert!(first.starts_with("HTTP/1.1 200 OK\r\n") && second.ends_with("\r\n\r\nb"), "{responses}");
}

#[tokio::test]
async fn incomplete_headers_after_a_pipelined_request_time_out() {
    let running = Running::start(config().header_timeout(SOON).idle_timeout(SOON), router()).await;
    let responses = exchange(&running, "GET /echo HTTP/1.1\r\nhost: a\r\n\r\nGET /echo HT").await;
    assert_eq!(responses.matches("HTTP/1.1 ").count(), 1, "{responses}");
}

#[tokio::test]
async fn an_unknown_method_is_answered_with_the_allowed_ones() {
    let running = Running::start(config(), router()).await;
    let response = exchange(&running, "BREW /echo HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await;
    assert!(response.starts_with("HTTP/1.1 405 Method Not Allowed\r\n"), "{response}");
    assert!(response.contains("allow: GET, POST\r\n"), "{response}");
}

#[tokio::test]
async fn bytes_that_are_no_request_are_rejected_and_the_server_continues() {
    let running = Running::start(config(), router()).await;
    let response = exchange(&running, "\u{16}\u{3}\u{1} no request\r\n\r\n").await;
    assert!(response.is_empty() || response.starts_with("HTTP/1.1 400 "), "{response}");
    assert_eq!(running.get("/echo").await.0, 200);
}
