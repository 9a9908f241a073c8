//! One connection.

use std::{
    convert::Infallible,
    net::IpAddr,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use http::Request;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::endpoints::Endpoints;

/// The time between two requests and for the headers of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(90);

/// The maximum size of the headers of a request.
const MAX_HEADER_SIZE: usize = 64 << 10;

/// Serves requests until the client closes the connection, a timeout expires, or the server drains.
pub(super) async fn serve(stream: TcpStream, peer: IpAddr, endpoints: Arc<Endpoints>, draining: CancellationToken) {
    let is_used = Arc::new(AtomicBool::new(false));
    let used = Arc::clone(&is_used);
    let service = service_fn(move |request: Request<Incoming>| {
        used.store(true, Ordering::Relaxed);
        let endpoints = Arc::clone(&endpoints);
        async move { Ok::<_, Infallible>(endpoints.respond(request, peer).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(MAX_HEADER_SIZE)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let result = tokio::select! {
        biased;
        () = draining.cancelled() => {
            // hyper waits for the first request of a new connection.
            if !is_used.load(Ordering::Relaxed) {
                return;
            }
            connection.as_mut().graceful_shutdown();
            connection.as_mut().await
        }
        result = connection.as_mut() => result,
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection ended");
    }
}
