//! The status of a server.

use std::{io::Write, time::Duration};

use kubewright_manager::serving::{Server, StatusError};
use tokio::{net::TcpStream, task::yield_now, time::advance};
use tokio_util::sync::CancellationToken;

use crate::{
    fixture::{config, gated, router, soon, until},
    tls::{Pem, PemFiles},
};

#[tokio::test]
async fn a_server_is_ready_while_it_accepts_connections() {
    let server = Server::bind(config(), router()).unwrap();
    let (status, address, stop) = (server.status(), server.local_address(), CancellationToken::new());
    assert_eq!(status.check(), Err(StatusError::NotRunning), "it does not run yet");
    let running = tokio::spawn(server.run(stop.clone()));
    until(async || status.check().is_ok()).await;
    drop(soon(TcpStream::connect(address)).await.unwrap());
    stop.cancel();
    soon(running).await.unwrap().unwrap();
    assert_eq!(status.check(), Err(StatusError::NotRunning), "it has stopped");
}

#[tokio::test]
async fn a_dropped_server_is_not_ready() {
    let server = Server::bind(config(), router()).unwrap();
    let status = server.status();
    let mut running = Box::pin(server.run(CancellationToken::new()));
    assert!(futures::poll!(&mut running).is_pending());
    assert_eq!(status.check(), Ok(()));
    drop(running);
    assert_eq!(status.check(), Err(StatusError::NotRunning));
}

#[tokio::test(start_paused = true)]
async fn a_server_with_a_connection_that_waits_for_10_s_is_not_ready() {
    let (router, handling, gate) = gated();
    let server = Server::bind(config().max_connections(1).request_timeout(Duration::MAX), router).unwrap();
    let (status, address, stop) = (server.status(), server.local_address(), CancellationToken::new());
    let running = tokio::spawn(server.run(stop.clone()));
    let mut connection = std::net::TcpStream::connect(address).unwrap();
    connection.write_all(b"GET /gated HTTP/1.1\r\nhost: a\r\n\r\n").unwrap();
    while handling.available_permits() == 0 {
        yield_now().await;
    }
    let _waiting = std::net::TcpStream::connect(address).unwrap();
    let full = StatusError::Full(Duration::from_secs(10));
    while status.check() != Err(full.clone()) {
        advance(Duration::from_secs(10)).await;
        yield_now().await;
    }
    gate.add_permits(1);
    // The first connection is idle then, and replaced.
    while status.check().is_err() {
        advance(Duration::from_millis(100)).await;
        yield_now().await;
    }
    stop.cancel();
    running.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_server_with_an_invalid_certificate_is_not_ready() {
    let files = PemFiles::new(&Pem::expired());
    let server = Server::bind(config(), router()).unwrap().tls(files.certificates());
    let (status, stop) = (server.status(), CancellationToken::new());
    let running = tokio::spawn(server.run(stop.clone()));
    until(async || matches!(status.check(), Err(StatusError::Certificate(_)))).await;
    let reason = status.check().unwrap_err().to_string();
    assert!(reason.contains("expired"), "{reason}");
    stop.cancel();
    soon(running).await.unwrap().unwrap();
}
