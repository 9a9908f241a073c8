//! Limits of bodies, headers, requests and connections. Sockets do not respect paused time, so timeouts are short.

use std::{future::pending, time::Duration};

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use kubewright_manager::serving::handler::text;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{interval, sleep, timeout},
};

use crate::fixture::{NEVER, Running, SOON, config, gated, read_to_end, router, soon};

#[tokio::test]
async fn a_body_that_is_too_large_is_rejected() {
    let running = Running::start(config().max_body_size(1000), router()).await;
    let mut client = running.client().await;
    assert_eq!(client.request(Method::POST, "/echo", vec![b'a'; 1000]).await.0, 200);
    let rejected = client.request(Method::POST, "/echo", vec![b'a'; 1001]).await;
    assert_eq!(rejected, (413, "the body exceeds 1000 bytes\n".to_owned()));
    assert_eq!(running.get("/echo").await.0, 200, "the server continues");
}

#[tokio::test]
async fn the_default_limit_of_a_body_is_7_mib() {
    let running = Running::start(config(), router()).await;
    let mut client = running.client().await;
    assert_eq!(client.request(Method::POST, "/echo", vec![b'a'; 7 << 20]).await.0, 200);
    assert_eq!(client.request(Method::POST, "/echo", vec![b'a'; (7 << 20) + 1]).await.0, 413);
}

#[tokio::test]
async fn a_large_body_is_rejected_before_it_is_sent() {
    let running = Running::start(config(), router()).await;
    let mut stream = running.connect().await;
    let head = b"POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 99999999\r\nexpect: 100-continue\r\n\r\n";
    stream.write_all(head).await.unwrap();
    let response = read_to_end(&mut stream).await;
    assert!(response.starts_with("HTTP/1.1 413 Payload Too Large\r\n"), "{response}");
    assert!(response.contains("connection: close\r\n"), "{response}");
}

#[tokio::test]
async fn a_body_of_unknown_length_is_limited_too() {
    let running = Running::start(config().max_body_size(10), router()).await;
    let head = "POST /echo HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";
    for (chunks, expected) in [
        ("5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n", "HTTP/1.1 200 OK\r\n"),
        ("5\r\n01234\r\n6\r\n56789a\r\n", "HTTP/1.1 413 Payload Too Large\r\n"),
    ] {
        let mut stream = running.connect().await;
        stream.write_all(format!("{head}{chunks}").as_bytes()).await.unwrap();
        let response = read_to_end(&mut stream).await;
        assert!(response.starts_with(expected), "{response}");
    }
}

#[tokio::test]
async fn a_body_waits_for_the_memory_of_others_of_its_peer() {
    let running = Running::start(config().max_body_size(10).max_total_body_size(20), router()).await;
    let mut first = running.connect().await;
    let head = b"POST /echo HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 10\r\n\r\n";
    first.write_all(&[&head[..], b"01234"].concat()).await.unwrap();
    let mut client = running.client().await;
    assert_eq!(client.get("/echo").await.0, 200, "a request without a body does not wait");
    let second = tokio::spawn(async move { client.request(Method::POST, "/echo", vec![b'a'; 10]).await.0 });
    sleep(SOON).await;
    assert!(!second.is_finished());
    first.write_all(b"56789").await.unwrap();
    assert!(read_to_end(&mut first).await.ends_with("0123456789"));
    assert_eq!(soon(second).await.unwrap(), 200);
}

#[tokio::test]
async fn a_body_without_a_handler_is_not_received() {
    let running = Running::start(config(), router()).await;
    for (request, code) in [("POST /unknown", 404), ("PUT /echo", 405)] {
        let mut stream = running.connect().await;
        let head = format!("{request} HTTP/1.1\r\nhost: a\r\ncontent-length: 99999\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let response = read_to_end(&mut stream).await;
        assert!(response.starts_with(&format!("HTTP/1.1 {code} ")), "{response}");
        assert!(response.contains("connection: close\r\n"), "{response}");
    }
    assert_eq!(running.get("/unknown").await.0, 404);
}

#[tokio::test]
async fn a_client_that_reads_slowly_does_not_hold_its_response() {
    const SIZE: usize = 64 << 20;
    let router = router().get("/large", |_: Request<Bytes>| async { text(StatusCode::OK, vec![b'a'; SIZE]) });
    let running = Running::start(config().idle_timeout(SOON), router).await;
    let mut stream = running.connect().await;
    stream.write_all(b"GET /large HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    let (mut received, mut buffer) = (0, vec![0; 64 << 10]);
    // The end is an error if the connection is reset.
    while let Ok(bytes) = soon(stream.read(&mut buffer)).await
        && bytes > 0
    {
        received += bytes;
        sleep(Duration::from_millis(10)).await;
    }
    assert!(received > 0 && received < SIZE, "{received}");
}

#[tokio::test]
async fn a_slow_body_times_out() {
    let running = Running::start(config().request_timeout(SOON), router()).await;
    let mut stream = running.connect().await;
    stream.write_all(b"POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nabc").await.unwrap();
    let response = read_to_end(&mut stream).await;
    assert!(response.starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{response}");
    assert!(response.ends_with("the request was not received within 100ms\n"), "{response}");
}

#[tokio::test]
async fn a_slow_handler_times_out() {
    let router = router().get("/slow", |_: Request<Bytes>| async {
        pending::<()>().await;
        text(StatusCode::OK, "")
    });
    let running = Running::start(config().request_timeout(SOON), router).await;
    let mut client = running.client().await;
    assert_eq!(client.get("/slow").await, (503, "the request timed out\n".to_owned()));
    assert_eq!(client.get("/echo").await.0, 200, "the connection continues");
}

#[tokio::test]
async fn slow_headers_close_the_connection_although_bytes_arrive() {
    let running = Running::start(config().header_timeout(SOON), router()).await;
    let (mut reads, mut writes) = running.connect().await.into_split();
    writes.write_all(b"GET /echo HTTP/1.1\r\nhost: ").await.unwrap();
    let mut received = Vec::new();
    let mut trickle = interval(Duration::from_millis(10));
    let end = soon(async {
        loop {
            tokio::select! {
                end = reads.read_to_end(&mut received) => break end,
                _ = trickle.tick() => { let _ = writes.write_all(b"a").await; }
            }
        }
    });
    let _ = end.await;
    assert!(received.is_empty(), "{}", String::from_utf8_lossy(&received));
}

#[tokio::test]
async fn a_connection_without_a_request_is_closed_after_the_header_timeout() {
    let running = Running::start(config().header_timeout(SOON), router()).await;
    assert_eq!(read_to_end(&mut running.connect().await).await, "");
}

#[tokio::test]
async fn an_idle_connection_is_closed_after_the_idle_timeout() {
    let running = Running::start(config().idle_timeout(SOON), router()).await;
    let mut stream = running.connect().await;
    stream.write_all(b"GET /echo HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    assert!(read_to_end(&mut stream).await.starts_with("HTTP/1.1 200 OK\r\n"));
}

#[tokio::test]
async fn an_idle_connection_is_not_closed_by_the_header_timeout() {
    let running = Running::start(config().header_timeout(SOON), router()).await;
    let mut client = running.client().await;
    assert_eq!(client.get("/echo").await.0, 200);
    sleep(3 * SOON).await;
    assert_eq!(client.get("/echo").await.0, 200);
}

#[tokio::test]
async fn a_request_is_not_idle() {
    let router = router().get("/slow", |_: Request<Bytes>| async {
        sleep(3 * SOON).await;
        text(StatusCode::OK, "slow")
    });
    let running = Running::start(config().idle_timeout(SOON).header_timeout(SOON), router).await;
    assert_eq!(running.get("/slow").await, (200, "slow".to_owned()));
}

#[tokio::test]
async fn a_client_that_does_not_read_the_response_is_disconnected() {
    let router = router().get("/large", |_: Request<Bytes>| async { text(StatusCode::OK, vec![b'a'; 64 << 20]) });
    let running = Running::start(config().idle_timeout(SOON).max_connections(1), router).await;
    let mut stalled = running.connect().await;
    stalled.write_all(b"GET /large HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    // The only connection is free again.
    assert_eq!(running.get("/echo").await.0, 200);
}

#[tokio::test]
async fn further_connections_wait_while_all_have_a_request() {
    let (router, started, gate) = gated();
    let running = Running::start(config().max_connections(1), router).await;
    let mut first = running.client().await;
    let request = tokio::spawn(async move { first.get("/gated").await });
    soon(started.acquire()).await.unwrap().forget();
    let mut second = running.connect().await;
    second.write_all(b"GET /echo HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    assert!(timeout(SOON, second.read_u8()).await.is_err(), "the second connection is not served");
    gate.add_permits(1);
    assert_eq!(soon(request).await.unwrap(), (200, "completed".to_owned()));
    assert_eq!(soon(second.read_u8()).await.unwrap(), b'H');
}

#[tokio::test]
async fn a_full_server_replaces_the_connection_that_is_idle_for_the_longest_time() {
    let running = Running::start(config().max_connections(2), router()).await;
    let mut silent = running.connect().await;
    let mut incomplete = running.connect().await;
    incomplete.write_all(b"GET /echo HT").await.unwrap();
    let mut third = running.client().await;
    assert_eq!(third.get("/echo").await.0, 200);
    assert_eq!(read_to_end(&mut silent).await, "", "the first one is closed");
    let mut fourth = running.client().await;
    assert_eq!(fourth.get("/echo").await.0, 200);
    assert_eq!(read_to_end(&mut incomplete).await, "", "the second one is closed");
    assert_eq!(third.get("/echo").await.0, 200, "the third one is open");
}

#[tokio::test]
async fn a_connection_that_waits_replaces_one_after_its_response() {
    let (router, started, gate) = gated();
    let running = Running::start(config().max_connections(1), router).await;
    let mut first = running.client().await;
    let request = tokio::spawn(async move { (first.get("/gated").await, first) });
    soon(started.acquire()).await.unwrap().forget();
    let waiting = running.connect().await;
    gate.add_permits(1);
    let (response, _open) = soon(request).await.unwrap();
    assert_eq!(response, (200, "completed".to_owned()), "the response is complete");
    drop(waiting);
    assert_eq!(running.get("/echo").await.0, 200);
}

#[tokio::test]
async fn silent_connections_do_not_delay_a_request() {
    let running = Running::start(config().max_connections(50), router()).await;
    let mut silent = Vec::new();
    for _ in 0..200 {
        silent.push(running.connect().await);
    }
    assert_eq!(running.get("/echo").await.0, 200);
}

#[tokio::test]
async fn headers_that_are_too_large_are_rejected() {
    let running = Running::start(config().idle_timeout(NEVER), router()).await;
    let mut stream = running.connect().await;
    let head = format!("GET /echo HTTP/1.1\r\nhost: a\r\nlarge: {}\r\n\r\n", "a".repeat(2 << 20));
    // The server can close the connection before it has received everything.
    let _ = soon(stream.write_all(head.as_bytes())).await;
    let response = read_to_end(&mut stream).await;
    assert!(response.is_empty() || response.starts_with("HTTP/1.1 431 "), "{response}");
    assert_eq!(running.get("/echo").await.0, 200, "the server continues");
}
