//! Serves HTTP/1.1 without TLS on a TCP socket, for kubectl and other clients.
//!
//! Guarantees:
//! - Each event of a watch is sent immediately.
//! - Requests are bounded: 3 MiB of body, as on the real server, 1 MiB of headers, and 30 seconds to receive the
//!   headers.
//! - Logs of pods are requested from the kubelet of their node, at the address in the status of the Node.
//! - A graceful shutdown accepts no more connections, ends watches, and completes requests in progress.
//!
//! There is neither TLS nor authentication: every client that can reach the port is an administrator, and may impersonate
//! users with the headers `Impersonate-User` and `Impersonate-Group`.

mod exchange;
mod kubeconfig;
mod kubelet;

use std::{future::Future, io, sync::Arc, time::Duration};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::{sleep, timeout},
};

use crate::server::api_server::ApiServer;

pub use kubeconfig::write_kubeconfig;

/// The maximum number of concurrent connections. Others wait to be accepted.
const MAX_CONNECTIONS: usize = 4096;
/// The maximum size of the headers of a request, as in Go's server.
const MAX_HEADER_BYTES: usize = 1 << 20;
/// The timeout for receiving the headers of a request, and for idle connections.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);
/// The time to complete requests in progress when the server stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause after a connection could not be accepted, for example with too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves until `stop` completes, and then completes requests in progress.
pub async fn serve(server: ApiServer, listener: TcpListener, stop: impl Future<Output = ()>) {
    let (stopping, stopped) = watch::channel(false);
    let graceful = GracefulShutdown::new();
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, &permits) => match accepted {
                Ok((stream, permit)) => connect(&server, stream, permit, &stopped, &graceful),
                Err(_) => sleep(ACCEPT_PAUSE).await,
            },
        }
    }
    drop(listener);
    stopping.send_replace(true);
    // Responses that are not sent by then are lost.
    let _ = timeout(SHUTDOWN_TIMEOUT, graceful.shutdown()).await;
}

async fn accept(listener: &TcpListener, permits: &Arc<Semaphore>) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let permit = Arc::clone(permits).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    // Events are small and must not be delayed.
    stream.set_nodelay(true)?;
    Ok((stream, permit))
}

/// Serves a connection in a separate task.
fn connect(
    server: &ApiServer,
    stream: TcpStream,
    permit: OwnedSemaphorePermit,
    stopped: &watch::Receiver<bool>,
    graceful: &GracefulShutdown,
) {
    let (server, stopped) = (server.clone(), stopped.clone());
    let service = service_fn(move |request| exchange::respond(server.clone(), request, stopped.clone()));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(MAX_HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let connection = graceful.watch(connection);
    tokio::spawn(async move {
        // Broken connections are ignored.
        let _ = connection.await;
        drop(permit);
    });
}
