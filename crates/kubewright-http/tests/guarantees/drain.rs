//! The stop of a server.

use kubewright_http::{DrainError, Limits};
use tokio::net::TcpStream;

use crate::fixture::{Running, SOON, limits, until};

#[tokio::test]
async fn after_the_stop_no_connection_is_accepted_and_requests_in_progress_are_completed() {
    let running = Running::start(limits());
    let (mut gated, mut idle) = (running.gated().await, running.connect().await);
    let (mut incomplete, mut silent) = (running.connect().await, running.connect().await);
    idle.get("/echo").await;
    idle.read_until("\r\n\r\n").await;
    incomplete.send("GET /echo HT").await;
    running.stop.cancel();
    for client in [&mut idle, &mut incomplete, &mut silent] {
        assert_eq!(client.read_to_end().await, "");
    }
    until(async || TcpStream::connect(running.address).await.is_err()).await;
    running.gate.open.add_permits(1);
    assert!(gated.read_to_end().await.ends_with("completed"));
    running.stop().await.unwrap();
}

#[tokio::test]
async fn requests_are_cancelled_after_the_drain_timeout() {
    let running = Running::start(Limits { drain_timeout: SOON, ..limits() });
    let mut gated = running.gated().await;
    assert_eq!(running.stop().await, Err(DrainError { connections: 1, timeout: SOON }));
    assert_eq!(gated.read_to_end().await, "");
}
