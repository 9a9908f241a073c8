//! One connection: the TLS handshake, its requests, and its graceful end.

use std::{io, net::IpAddr, pin::pin, sync::Arc, time::Duration};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::{
    bodies::Bodies,
    config::ServerConfig,
    exchange::Exchange,
    timed_stream::{Phases, TimedStream},
};
use crate::serving::router::Router;

/// The maximum size of the headers of a request, as in Go's server.
const MAX_HEADER_SIZE: usize = 1 << 20;

/// An accepted connection.
pub(super) struct Connection {
    pub(super) config: Arc<ServerConfig>,
    pub(super) router: Arc<Router>,
    pub(super) acceptor: Option<TlsAcceptor>,
    pub(super) bodies: Bodies,
    pub(super) peer: IpAddr,
    pub(super) phases: Phases,
    pub(super) draining: CancellationToken,
}

impl Connection {
    /// Serves requests until the client closes the connection, a timeout expires, or the server drains.
    pub(super) async fn serve(self, stream: TcpStream) {
        let Some(acceptor) = self.acceptor.clone() else { return self.exchange(stream).await };
        let draining = self.draining.clone();
        let phases = self.phases.clone();
        let result = tokio::select! {
            biased;
            () = draining.cancelled() => return,
            result = acceptor.accept(stream) => result,
            () = phases.exceeded() => Err(io::ErrorKind::TimedOut.into()),
        };
        match result {
            Ok(stream) => {
                phases.begin_headers();
                self.exchange(stream).await;
            }
            Err(error) => {
                tracing::debug!(server = self.config.name, peer = %self.peer, %error, "the TLS handshake failed");
            }
        }
    }

    async fn exchange<S: AsyncRead + AsyncWrite + Unpin>(self, stream: S) {
        let phases = self.phases;
        let stream = TimedStream::new(stream, phases.clone());
        let exchange = Arc::new(Exchange {
            config: Arc::clone(&self.config),
            router: self.router,
            bodies: self.bodies,
            peer: self.peer,
            phases: phases.clone(),
        });
        let service = service_fn(move |request| Arc::clone(&exchange).respond(request));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            // The stream has the timeouts.
            .header_read_timeout(None::<Duration>)
            .max_buf_size(MAX_HEADER_SIZE)
            .serve_connection(TokioIo::new(stream), service);
        let mut connection = pin!(connection);
        let completed = async {
            tokio::select! {
                biased;
                () = self.draining.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    phases.drain();
                    connection.as_mut().await
                }
                result = connection.as_mut() => result,
            }
        };
        tokio::select! {
            biased;
            result = completed => if let Err(error) = result {
                tracing::debug!(server = self.config.name, peer = %self.peer, %error, "a connection ended");
            },
            () = phases.exceeded() => {
                tracing::debug!(server = self.config.name, peer = %self.peer, "a connection exceeded its timeout");
            }
        }
    }
}
