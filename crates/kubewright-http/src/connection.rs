//! One connection: the TLS handshake, its requests, and its graceful end.

use std::{io, net::IpAddr, pin::pin, sync::Arc, time::Duration};

use http::Extensions;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::{
    admission::{Replaced, Slot},
    budget::Budget,
    exchange::Exchange,
    server::Config,
    service::BoxService,
    timed_stream::{Phases, TimedStream},
};

/// The minimum of hyper for the size of headers.
const MIN_HEADER_BYTES: usize = 8 << 10;
/// The time of a connection of the reserve.
const RESERVE_TIMEOUT: Duration = Duration::from_secs(2);

/// An accepted connection.
pub(crate) struct Connection {
    pub(crate) config: Arc<Config>,
    pub(crate) service: BoxService,
    pub(crate) budget: Budget,
    pub(crate) address: IpAddr,
    pub(crate) slot: Arc<Slot>,
    pub(crate) phases: Phases,
    pub(crate) draining: CancellationToken,
}

impl Connection {
    /// Serves requests until the client closes the connection, a timeout expires, another connection replaces this one,
    /// or the server drains.
    pub(crate) async fn serve(self, stream: TcpStream, replaced: Replaced) {
        let (config, peer) = (Arc::clone(&self.config), self.address);
        let limit = if self.slot.is_reserved { RESERVE_TIMEOUT } else { Duration::MAX };
        tokio::select! {
            biased;
            _ = replaced => {
                tracing::debug!(server = &*config.name, %peer, "another connection replaces an idle one");
            }
            result = timeout(limit, self.accept(stream)) => {
                let result = result.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
                if let Err(error) = result {
                    tracing::debug!(server = &*config.name, %peer, %error, "a connection ended");
                }
            }
        }
    }

    #[cfg(not(feature = "tls"))]
    async fn accept(self, stream: TcpStream) -> io::Result<()> {
        self.exchange(stream, false, Extensions::new()).await
    }

    /// Performs the handshake of a server with TLS.
    #[cfg(feature = "tls")]
    async fn accept(self, stream: TcpStream) -> io::Result<()> {
        let Some(tls) = self.config.tls.clone() else {
            return self.exchange(stream, false, Extensions::new()).await;
        };
        if crate::tls::is_plain_http(&stream, &self.phases, &self.draining).await? {
            self.phases.linger();
            let mut stream = TimedStream::new(stream, self.phases, self.slot);
            return crate::tls::reject_plain_http(&mut stream).await;
        }
        let stream = tokio::select! {
            biased;
            () = self.draining.cancelled() => return Ok(()),
            stream = tls.accept(stream) => stream?,
            () = self.phases.exceeded() => return Err(io::ErrorKind::TimedOut.into()),
        };
        let extensions = tls.extensions(stream.get_ref().1);
        self.phases.begin_headers();
        self.exchange(stream, true, extensions).await
    }

    async fn exchange<T>(self, stream: T, has_tls: bool, extensions: Extensions) -> io::Result<()>
    where
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Connection { config, service, budget, address, slot, phases, draining } = self;
        let max_header_bytes = config.limits.max_header_bytes.max(MIN_HEADER_BYTES);
        let is_reserved = slot.is_reserved;
        let stream = TimedStream::new(stream, phases.clone(), Arc::clone(&slot));
        let exchange = Exchange { config, budget, address, slot, phases: phases.clone(), has_tls, extensions };
        let exchange = Arc::new(exchange);
        let service = service_fn(move |request| Arc::clone(&exchange).respond(service.clone(), request));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            // The stream has the timeouts.
            .header_read_timeout(None::<Duration>)
            .keep_alive(!is_reserved)
            .max_buf_size(max_header_bytes)
            .max_header_size(max_header_bytes)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades();
        let mut connection = pin!(connection);
        let completed = async {
            tokio::select! {
                biased;
                () = draining.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    phases.drain();
                    connection.as_mut().await
                }
                result = connection.as_mut() => result,
            }
        };
        tokio::select! {
            biased;
            result = completed => result.map_err(io::Error::other),
            () = phases.exceeded() => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}
