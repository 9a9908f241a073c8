//! The time, the size and the memory of requests and responses.

use std::time::Duration;

use kubewright_http::Limits;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{interval, sleep},
};

use crate::fixture::{Running, SOON, limits, soon};

const POST: &str = "POST /echo HTTP/1.1\r\nhost: a\r\nconnection: close\r\n";

#[tokio::test]
async fn the_headers_of_a_request_have_a_timeout_from_their_first_byte() {
    let running = Running::start(Limits { header_timeout: SOON, ..limits() });
    assert_eq!(running.connect().await.read_to_end().await, "");
    let mut client = running.connect().await;
    client.get("/echo").await;
    client.read_until("\r\n\r\n").await;
    sleep(2 * SOON).await;
    client.get("/echo").await;
    client.read_until("\r\n\r\n").await;
    client.send("GET /echo HT").await;
    assert_eq!(client.read_to_end().await, "");
}

#[tokio::test]
async fn the_timeout_of_headers_includes_those_that_arrive_slowly() {
    let running = Running::start(Limits { header_timeout: SOON, ..limits() });
    let (mut reads, mut writes) = running.connect().await.0.into_split();
    writes.write_all(b"GET /echo HTTP/1.1\r\nhost: ").await.unwrap();
    let (mut received, mut trickle) = (Vec::new(), interval(Duration::from_millis(10)));
    soon(async {
        loop {
            tokio::select! {
                _ = reads.read_to_end(&mut received) => break,
                _ = trickle.tick() => { let _ = writes.write_all(b"a").await; }
            }
        }
    })
    .await;
    assert!(received.is_empty(), "{}", String::from_utf8_lossy(&received));
}

#[tokio::test]
async fn a_body_has_a_timeout() {
    let running = Running::start(Limits { body_timeout: SOON, ..limits() });
    let mut client = running.connect().await;
    client.send(&format!("{POST}content-length: 5\r\n\r\nabc")).await;
    let response = client.read_to_end().await;
    assert!(response.starts_with("HTTP/1.1 408 ") && response.contains("within 100ms"), "{response}");
}

#[tokio::test]
async fn a_request_has_a_timeout() {
    let running = Running::start(Limits { request_timeout: SOON, ..limits() });
    let mut client = running.connect().await;
    client.get("/slow").await;
    assert!(client.read_until("the request timed out\n").await.starts_with("HTTP/1.1 503 "));
    client.get("/echo").await;
    client.read_until("\r\n\r\n").await;
    client.send("POST /slow HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nabc").await;
    assert!(client.read_to_end().await.starts_with("HTTP/1.1 408 "), "the body is incomplete");
}

#[tokio::test]
async fn a_client_that_reads_slowly_does_not_hold_its_response() {
    let running = Running::start(Limits { write_timeout: SOON, ..limits() });
    let mut client = running.connect().await;
    client.get("/large").await;
    let (mut received, mut buffer) = (0, vec![0; 64 << 10]);
    // The end is an error if the connection is reset.
    while let Ok(bytes) = soon(client.0.read(&mut buffer)).await
        && bytes > 0
    {
        received += bytes;
        sleep(Duration::from_millis(10)).await;
    }
    assert!(received > 0 && received < 64 << 20, "{received}");
}

#[tokio::test]
async fn a_client_that_does_not_read_is_disconnected() {
    let running = Running::start(Limits { write_timeout: SOON, max_connections: 1, ..limits() });
    let mut stalled = running.connect().await;
    stalled.get("/large").await;
    assert!(running.get("/echo").await.starts_with("HTTP/1.1 200 OK\r\n"), "the only connection is free again");
}

#[tokio::test]
async fn a_request_is_not_idle() {
    let running = Running::start(Limits { idle_timeout: SOON, write_timeout: SOON, header_timeout: SOON, ..limits() });
    let mut gated = running.gated().await;
    sleep(3 * SOON).await;
    running.gate.open.add_permits(1);
    assert!(gated.read_until("completed").await.starts_with("HTTP/1.1 200 OK\r\n"));
}

#[tokio::test]
async fn an_idle_connection_has_a_timeout_and_a_stream_is_not_idle() {
    let limits = Limits { idle_timeout: SOON, write_timeout: SOON, request_timeout: SOON, ..limits() };
    let running = Running::start(limits);
    let mut stream = running.connect().await;
    stream.get("/stream").await;
    stream.read_until("part\r\n").await;
    let mut idle = running.connect().await;
    idle.get("/echo").await;
    assert!(idle.read_to_end().await.starts_with("HTTP/1.1 200 OK\r\n"));
    sleep(2 * SOON).await;
    assert!(stream.0.try_read(&mut [0]).is_err(), "the stream is open");
}

#[tokio::test]
async fn headers_that_are_too_large_are_rejected() {
    let running = Running::start(Limits { max_header_bytes: 64 << 10, ..limits() });
    for (length, code) in [(64 << 10, "200"), ((64 << 10) + 1, "431")] {
        let start = "GET /echo HTTP/1.1\r\nhost: a\r\nconnection: close\r\npadding: ";
        let mut client = running.connect().await;
        client.send(&format!("{start}{}\r\n\r\n", "a".repeat(length - start.len() - 4))).await;
        let response = client.read_to_end().await;
        assert!(response.starts_with(&format!("HTTP/1.1 {code} ")), "{response}");
    }
}

#[tokio::test]
async fn a_body_is_rejected_by_its_declared_length_before_it_is_sent() {
    let running = Running::start(Limits { max_body_bytes: 10, ..limits() });
    let mut client = running.connect().await;
    client.send(&format!("{POST}content-length: 11\r\nexpect: 100-continue\r\n\r\n")).await;
    let response = client.read_to_end().await;
    assert!(response.starts_with("HTTP/1.1 413 ") && response.ends_with("the body exceeds 10 bytes"), "{response}");
    for (chunks, code) in [("5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n", "200"), ("5\r\n01234\r\n6\r\n56789a\r\n", "413")] {
        let mut client = running.connect().await;
        client.send(&format!("{POST}transfer-encoding: chunked\r\n\r\n{chunks}")).await;
        let response = client.read_to_end().await;
        assert!(response.starts_with(&format!("HTTP/1.1 {code} ")), "its length is unknown: {response}");
    }
}

#[tokio::test]
async fn a_body_is_not_received_until_the_service_reads_it() {
    let running = Running::start(limits());
    let mut client = running.connect().await;
    let head = "POST /gated HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\nexpect: 100-continue\r\n\r\n";
    client.send(head).await;
    soon(running.gate.running.acquire()).await.unwrap().forget();
    running.gate.open.add_permits(1);
    let response = client.read_to_end().await;
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n") && response.contains("connection: close"), "{response}");
}

#[tokio::test]
async fn a_body_waits_for_the_memory_of_others_of_its_peer() {
    let running = Running::start(Limits { max_body_bytes: 10, max_total_body_bytes: 20, ..limits() });
    let mut first = running.connect().await;
    first.send(&format!("{POST}content-length: 10\r\n\r\n01234")).await;
    let mut second = running.connect().await;
    second.send(&format!("{POST}content-length: 10\r\n\r\n0123456789")).await;
    assert!(running.get("/echo").await.starts_with("HTTP/1.1 200 OK\r\n"), "a request without a body does not wait");
    sleep(SOON).await;
    assert!(second.0.try_read(&mut [0]).is_err(), "the second body waits");
    first.send("56789").await;
    assert!(first.read_to_end().await.ends_with("0123456789"));
    assert!(second.read_to_end().await.ends_with("0123456789"));
}

#[tokio::test]
async fn a_response_is_not_lost_if_the_request_was_not_received_completely() {
    let running = Running::start(Limits { max_body_bytes: 10, ..limits() });
    for _ in 0..20 {
        let mut client = running.connect().await;
        // The server does not read the body, and closing the socket at once would reset the connection.
        let body = vec![b'a'; 4 << 20];
        let sent = async {
            client.send(&format!("{POST}content-length: {}\r\n\r\n", body.len())).await;
            client.0.write_all(&body).await
        };
        soon(sent).await.unwrap();
        assert!(client.read_to_end().await.starts_with("HTTP/1.1 413 "));
    }
}

#[tokio::test]
async fn a_panic_of_the_service_is_answered_and_the_connection_continues() {
    let running = Running::start(limits());
    let mut client = running.connect().await;
    client.get("/panic").await;
    assert!(client.read_until("internal error\n").await.starts_with("HTTP/1.1 500 "));
    client.get("/peer").await;
    let response = client.read_until("}").await;
    assert!(response.contains("address: 127.0.0.1,") && response.contains("has_tls: false"), "{response}");
}
