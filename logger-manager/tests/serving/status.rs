//! The status of a server.

use logger_manager::serving::{Server, StatusError};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use crate::{
    fixture::{config, router, soon, until},
    tls::{Pem, PemFiles},
};

#[tokio::test]
async fn a_server_is_ready_while_it_accepts_connections() {
    let server = Server::bind(config().max_connections(1), router()).unwrap();
    let (status, address, stop) = (server.status(), server.local_address(), CancellationToken::new());
    assert_eq!(status.check(), Err(StatusError::NotRunning), "it does not run yet");
    let running = tokio::spawn(server.run(stop.clone()));
    until(async || status.check().is_ok()).await;
    let connection = soon(TcpStream::connect(address)).await.unwrap();
    until(async || status.check() == Err(StatusError::Full)).await;
    drop(connection);
    until(async || status.check().is_ok()).await;
    stop.cancel();
    soon(running).await.unwrap().unwrap();
    assert_eq!(status.check(), Err(StatusError::NotRunning), "it has stopped");
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
