//! Serves HTTP/1.1 on a TCP socket, with or without TLS, for kubectl and other clients.
//!
//! Guarantees:
//! - Each event of a watch is sent immediately.
//! - Logs of pods are requested from the kubelet of their node, at the address in the status of the Node.
//! - Requests are bounded: 1 MiB of request line and headers, exactly, and 3 MiB of body, as on the real server.
//! - The TLS handshake, the head of a request, its body and the writing of its response have deadlines. Connections and
//!   requests in flight are limited ([`Limits`]).
//! - A client with many connections, watches or slow requests does not stop the others.
//! - Without TLS, requests that a web page in a browser can send are rejected: with an `Origin`, for a host name other
//!   than `localhost`, or with a body without a media type.
//! - A graceful shutdown accepts no more connections, ends watches, and completes requests in progress. All connections
//!   end with [`serve`]: no task is detached.
//!
//! Without [`Builder::authentication`](crate::Builder::authentication), every client that can reach the port is an
//! administrator, and may impersonate users with the headers `Impersonate-User` and `Impersonate-Group`.

mod admission;
mod authority;
mod embedded;
mod error;
mod error_response;
mod exchange;
mod keys;
mod kubeconfig;
mod kubelet;
mod limits;
mod tls;
mod web_page;
mod webhooks;

use std::{future::Future, sync::Arc};

use kubewright_http::{BoxService, Server};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::server::api_server::ApiServer;

pub use authority::Authority;
pub use embedded::{EmbeddedError, Serve, embedded};
pub use error::TlsError;
pub use keys::open_service_account_key;
pub use kubeconfig::{write_kubeconfig, write_tls_kubeconfig};
pub use limits::Limits;
pub use tls::{PemPair, Tls};
pub use webhooks::call_webhooks;

use admission::Admission;
use exchange::Exchange;

/// Serves HTTP without TLS until `stop` completes, and then completes requests in progress.
pub async fn serve(server: ApiServer, listener: TcpListener, limits: Limits, stop: impl Future<Output = ()>) {
    accept(server, listener, None, limits, stop).await;
}

/// Serves HTTPS until `stop` completes, and then completes requests in progress. With
/// [`Builder::authentication`](crate::Builder::authentication), a request is that of the user of its client
/// certificate.
pub async fn serve_tls(
    server: ApiServer,
    listener: TcpListener,
    tls: Tls,
    limits: Limits,
    stop: impl Future<Output = ()>,
) {
    accept(server, listener, Some(tls), limits, stop).await;
}

async fn accept(
    server: ApiServer,
    listener: TcpListener,
    tls: Option<Tls>,
    limits: Limits,
    stop: impl Future<Output = ()>,
) {
    let (admission, stopping) = (Admission::new(limits), CancellationToken::new());
    let exchange = Arc::new(Exchange { server, admission, stopping: stopping.clone() });
    let service = BoxService::from_fn(move |request| Arc::clone(&exchange).respond(request));
    let mut http = Server::new("apiserver", listener).limits(limits.http());
    if let Some(Tls(tls)) = tls {
        http = http.tls(tls);
    }
    let stop = async {
        stop.await;
        stopping.cancel();
    };
    // Responses that are not sent by then are lost.
    let _ = http.serve(service, stop).await;
}
