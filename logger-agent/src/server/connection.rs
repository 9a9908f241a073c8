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
use tokio::{
    net::TcpStream,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{admission::Kind, deadline::WriteDeadline, endpoints::Endpoints};

/// The time between two requests and for the headers of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(90);

/// The time until the first request.
const FIRST_REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// The time in which a client must read its responses.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// The time of a connection that serves one probe.
const RESERVE_TIMEOUT: Duration = Duration::from_secs(2);

/// The maximum size of the headers of a request.
const MAX_HEADER_SIZE: usize = 64 << 10;

/// Serves requests until the client closes the connection, a timeout expires, or the server drains.
pub(super) async fn serve(
    stream: TcpStream,
    peer: IpAddr,
    kind: Kind,
    endpoints: Arc<Endpoints>,
    draining: CancellationToken,
) {
    match kind {
        Kind::Full => serve_requests(stream, peer, kind, endpoints, draining).await,
        Kind::Reserve => {
            let served = serve_requests(stream, peer, kind, endpoints, draining);
            if timeout(RESERVE_TIMEOUT, served).await.is_err() {
                tracing::debug!(%peer, "a connection of the reserve timed out");
            }
        }
    }
}

async fn serve_requests(
    stream: TcpStream,
    peer: IpAddr,
    kind: Kind,
    endpoints: Arc<Endpoints>,
    draining: CancellationToken,
) {
    let is_used = Arc::new(AtomicBool::new(false));
    let used = Arc::clone(&is_used);
    let service = service_fn(move |request: Request<Incoming>| {
        used.store(true, Ordering::Relaxed);
        let endpoints = Arc::clone(&endpoints);
        async move {
            Ok::<_, Infallible>(match kind {
                Kind::Full => endpoints.respond(request, peer).await,
                Kind::Reserve => endpoints.respond_to_probe(&request),
            })
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .keep_alive(kind == Kind::Full)
        .max_buf_size(MAX_HEADER_SIZE)
        .serve_connection(TokioIo::new(WriteDeadline::new(stream, WRITE_TIMEOUT)), service);
    let mut connection = pin!(connection);
    let unused = async {
        sleep(FIRST_REQUEST_TIMEOUT).await;
        if is_used.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
    };
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
        () = unused => return,
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection ended");
    }
}
