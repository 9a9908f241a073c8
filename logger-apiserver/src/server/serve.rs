//! Serves HTTP/1.1 without TLS on a TCP socket, for kubectl and other clients.
//!
//! Guarantees:
//! - Each event of a watch is sent immediately.
//! - Requests are bounded: 3 MiB of body, as on the real server, 1 MiB of headers, and 30 seconds to receive the
//!   headers.
//! - Logs of pods are requested from the kubelet of their node, at the address in the status of the Node.
//! - A graceful shutdown accepts no more connections, ends watches, and completes requests in progress.
//! - Requests are bounded: 1 MiB of request line and headers, exactly, and 3 MiB of body, as on the real server.
//! - The head of a request, its body and the writing of its response have deadlines. Connections and requests in flight
//!   are limited ([`Limits`]).
//! - A client with many connections, watches or slow requests does not stop the others.
//! - A graceful shutdown accepts no more connections, ends watches, and completes requests in progress. All connections
//!   end with [`serve`]: no task is detached.
//!
//! There is neither TLS nor authentication: every client that can reach the port is an administrator, and may impersonate
//! users with the headers `Impersonate-User` and `Impersonate-Group`.

mod admission;
mod connection;
mod exchange;
mod kubeconfig;
mod kubelet;
mod limits;

use std::{future::Future, sync::Arc, time::Duration};

use tokio::{
    net::TcpListener,
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::server::api_server::ApiServer;

pub use kubeconfig::write_kubeconfig;
pub use limits::Limits;

use admission::Admission;
use connection::Connection;

/// The time to complete requests in progress when the server stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause after a connection could not be accepted, for example with too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves until `stop` completes, and then completes requests in progress.
pub async fn serve(server: ApiServer, listener: TcpListener, limits: Limits, stop: impl Future<Output = ()>) {
    let (stopping, stopped) = watch::channel(false);
    let admission = Arc::new(Admission::new(limits));
    let mut connections = JoinSet::new();
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    // Without a slot, the connection is closed.
                    let peer = peer.ip().to_canonical();
                    if let Some((slot, replaced)) = admission.open(peer) {
                        let admission = Arc::clone(&admission);
                        let connection = Connection::new(server.clone(), admission, &slot, peer, stopped.clone());
                        connections.spawn(connection.serve(stream, slot, replaced));
                    }
                }
                Err(_) => {
                    admission.make_room();
                    sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    drop(listener);
    stopping.send_replace(true);
    let completed = async { while connections.join_next().await.is_some() {} };
    // Responses that are not sent by then are lost.
    let _ = timeout(SHUTDOWN_TIMEOUT, completed).await;
    connections.shutdown().await;
}
