//! The number of connections, and which one is replaced.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use http::StatusCode;
use kubewright_http::{Limits, Observer, Status, StatusError};
use tokio::{io::AsyncReadExt, time::timeout};

use crate::fixture::{Running, SOON, limits, soon, until};

#[tokio::test]
async fn a_further_connection_replaces_the_one_that_has_been_idle_for_the_longest_time() {
    let running = Running::start(Limits { max_connections: 2, ..limits() });
    let (mut silent, mut second) = (running.connect().await, running.connect().await);
    second.get("/echo").await;
    second.read_until("\r\n\r\n").await;
    assert!(running.get("/echo").await.starts_with("HTTP/1.1 200 OK\r\n"));
    assert_eq!(silent.read_to_end().await, "");
    second.get("/echo").await;
    second.read_until("\r\n\r\n").await;
}

#[tokio::test]
async fn a_further_connection_replaces_a_stream_if_none_is_idle() {
    let running = Running::start(Limits { max_connections: 2, ..limits() });
    let gated = running.gated().await;
    let mut stream = running.connect().await;
    stream.get("/stream").await;
    stream.read_until("part\r\n").await;
    assert!(running.get("/echo").await.starts_with("HTTP/1.1 200 OK\r\n"));
    assert_eq!(stream.read_to_end().await, "", "the stream ends without its last part");
    drop(gated);
}

#[tokio::test]
async fn a_connection_with_a_request_in_progress_is_never_replaced_and_further_ones_wait() {
    let status = Status::default();
    let limits = Limits { max_connections: 1, ..limits() };
    let running = Running::start_with(|server| server.limits(limits).status(status.clone()));
    let mut gated = running.gated().await;
    let mut second = running.connect().await;
    second.get("/echo").await;
    assert!(timeout(SOON, second.0.read_u8()).await.is_err(), "the second connection is not served");
    running.gate.open.add_permits(1);
    assert!(gated.read_until("completed").await.starts_with("HTTP/1.1 200 OK\r\n"));
    assert_eq!(soon(second.0.read_u8()).await.unwrap(), b'H');
    assert_eq!(status.check(), Ok(()));
    running.stop().await.unwrap();
    assert_eq!(status.check(), Err(StatusError::NotRunning));
}

#[tokio::test]
async fn a_connection_that_waits_replaces_one_after_its_response() {
    let running = Running::start(Limits { max_connections: 1, ..limits() });
    let mut gated = running.gated().await;
    let waiting = running.connect().await;
    running.gate.open.add_permits(1);
    assert!(gated.read_until("completed").await.starts_with("HTTP/1.1 200 OK\r\n"), "the response is complete");
    drop(waiting);
    assert!(running.get("/echo").await.starts_with("HTTP/1.1 200 OK\r\n"));
}

#[tokio::test]
async fn silent_connections_do_not_delay_a_request() {
    let running = Running::start(Limits { max_connections: 50, ..limits() });
    let mut silent = Vec::new();
    for _ in 0..200 {
        silent.push(running.connect().await);
    }
    assert!(running.get("/echo").await.starts_with("HTTP/1.1 200 OK\r\n"));
}

#[tokio::test]
async fn a_connection_of_the_reserve_serves_one_request() {
    let running = Running::start(Limits { max_connections: 1, reserved_connections: 1, ..limits() });
    let _first = running.gated().await;
    let mut reserved = running.connect().await;
    reserved.get("/peer").await;
    let response = reserved.read_to_end().await;
    assert!(response.contains("connection: close\r\n") && response.contains("is_reserved: true"), "{response}");
    let _silent = running.connect().await;
    assert_eq!(running.connect().await.read_to_end().await, "", "a peer has one connection of the reserve");
}

#[derive(Debug, Default)]
struct Counts {
    opened: AtomicUsize,
    closed: AtomicUsize,
    rejected: AtomicUsize,
    responded: AtomicUsize,
}

#[derive(Debug)]
struct Counter(Arc<Counts>);

impl Observer for Counter {
    fn opened(&self, _: IpAddr) {
        self.0.opened.fetch_add(1, Ordering::Relaxed);
    }

    fn closed(&self, _: IpAddr) {
        self.0.closed.fetch_add(1, Ordering::Relaxed);
    }

    fn rejected(&self, _: IpAddr) {
        self.0.rejected.fetch_add(1, Ordering::Relaxed);
    }

    fn responded(&self, status: StatusCode, _: Duration) {
        assert_eq!(status, 200);
        self.0.responded.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn an_observer_receives_connections_and_responses() {
    let counts = Arc::new(Counts::default());
    let counter = Counter(Arc::clone(&counts));
    let limits = Limits { max_connections_per_peer: 1, ..limits() };
    let running = Running::start_with(|server| server.limits(limits).observer(counter));
    running.get("/echo").await;
    let gated = running.gated().await;
    assert_eq!(running.get("/echo").await, "", "the peer has its only connection");
    drop(gated);
    let counts = || {
        [&counts.opened, &counts.closed, &counts.rejected, &counts.responded].map(|count| count.load(Ordering::Relaxed))
    };
    until(async || counts() == [2, 2, 1, 1]).await;
}
