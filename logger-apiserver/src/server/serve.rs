//! The server on a socket: HTTP/1.1 without TLS, for kubectl and every other client.
//!
//! It promises:
//! - Each event of a watch is sent as it comes.
//! - Requests are bounded: 3 MiB of body as the real server takes, 1 MiB of headers, 30 seconds for them to come.
//! - A graceful stop accepts no more connections, ends watches, and answers requests in progress.
//!
//! Whoever reaches the port may do anything: there is neither TLS nor authentication.

mod exchange;
mod kubeconfig;

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

/// How many connections there are at once; others wait to be accepted.
const CONNECTIONS: usize = 4096;
/// How many bytes of headers a request has at most, as with Go's server.
const HEADER_BYTES: usize = 1 << 20;
/// How long the headers of a request may take, and how long a connection stays open without one.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);
/// How long requests are waited for when the server stops.
const GRACE: Duration = Duration::from_secs(10);
/// How long to wait when a connection cannot be accepted: too many files are open, which will pass.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves until `stop` completes and requests in progress are answered.
pub async fn serve(server: ApiServer, listener: TcpListener, stop: impl Future<Output = ()>) {
    let (stopping, stopped) = watch::channel(false);
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, &places) => match accepted {
                Ok((stream, place)) => connect(&server, stream, place, &stopped, &graceful),
                Err(_) => sleep(ACCEPT_PAUSE).await,
            },
        }
    }
    drop(listener);
    stopping.send_replace(true);
    // Who has not read its answer by then does not get it.
    let _ = timeout(GRACE, graceful.shutdown()).await;
}

async fn accept(listener: &TcpListener, places: &Arc<Semaphore>) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    // Events are small and are not to wait for each other.
    stream.set_nodelay(true)?;
    Ok((stream, place))
}

/// Serves a connection in a separate task.
fn connect(
    server: &ApiServer,
    stream: TcpStream,
    place: OwnedSemaphorePermit,
    stopped: &watch::Receiver<bool>,
    graceful: &GracefulShutdown,
) {
    let (server, stopped) = (server.clone(), stopped.clone());
    let service = service_fn(move |request| exchange::answer(server.clone(), request, stopped.clone()));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let connection = graceful.watch(connection);
    tokio::spawn(async move {
        // A connection that breaks is its client's affair.
        let _ = connection.await;
        drop(place);
    });
}
