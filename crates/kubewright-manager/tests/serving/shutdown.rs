//! The stop of a server: requests in progress are completed, everything else is closed.

use kubewright_manager::serving::ServerError;
use tokio::{io::AsyncWriteExt, net::TcpStream};

use crate::fixture::{Running, SOON, config, gated, read_to_end, router, soon, until};

#[tokio::test]
async fn requests_in_progress_are_completed() {
    let (router, handling, gate) = gated();
    let running = Running::start(config(), router).await;
    let (address, mut client) = (running.address, running.client().await);
    let response = tokio::spawn(async move { client.get("/gated").await });
    soon(handling.acquire()).await.unwrap().forget();
    running.cancelled.cancel();
    until(async || TcpStream::connect(address).await.is_err()).await;
    gate.add_permits(1);
    assert_eq!(soon(response).await.unwrap(), (200, "completed".to_owned()));
    running.stop().await.unwrap();
}

#[tokio::test]
async fn idle_connections_and_incomplete_headers_do_not_delay_the_stop() {
    let running = Running::start(config(), router()).await;
    let mut idle = running.client().await;
    assert_eq!(idle.get("/echo").await.0, 200);
    let mut incomplete = running.connect().await;
    incomplete.write_all(b"GET /echo HT").await.unwrap();
    let mut silent = running.connect().await;
    running.stop().await.unwrap();
    assert_eq!(read_to_end(&mut incomplete).await, "");
    assert_eq!(read_to_end(&mut silent).await, "");
}

#[tokio::test]
async fn requests_are_cancelled_after_the_drain_timeout() {
    let (router, handling, _gate) = gated();
    let running = Running::start(config().drain_timeout(SOON), router).await;
    let mut stream = running.connect().await;
    stream.write_all(b"GET /gated HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    soon(handling.acquire()).await.unwrap().forget();
    let error = running.stop().await.unwrap_err();
    assert!(matches!(error, ServerError::Drain { connections: 1, .. }), "{error:?}");
    let expected = "the server `test` stopped, but closed 1 connections with requests in progress after 100ms";
    assert_eq!(error.to_string(), expected);
    assert_eq!(read_to_end(&mut stream).await, "");
}
