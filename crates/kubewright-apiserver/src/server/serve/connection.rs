//! One connection: its TLS handshake, its requests, its deadline, and its end.

use std::{future::pending, io, net::IpAddr, pin::pin, sync::Arc, time::Duration};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    sync::watch,
    time::{Instant, sleep_until, timeout},
};
use tokio_rustls::server::TlsStream;

use crate::{
    authentication::client_certificate::ClientCertificate,
    server::{
        api_server::ApiServer,
        serve::{
            admission::{Admission, Replaced, Slot},
            exchange,
            tls::{self, Tls},
        },
    },
};

/// The maximum size of the request line and the headers of a request, as in Go's server.
const MAX_HEADER_BYTES: usize = 1 << 20;
/// How long a closed connection is read. Closing it while the client sends would reset the connection, and the client
/// could lose the response.
const LINGER_TIMEOUT: Duration = Duration::from_millis(500);
/// The maximum number of bytes that a closed connection reads.
const MAX_LINGER_BYTES: usize = 16 << 20;

/// A connection, shared by its task and its exchanges.
pub(super) struct Connection {
    pub(super) server: ApiServer,
    pub(super) admission: Arc<Admission>,
    pub(super) id: u64,
    pub(super) peer: IpAddr,
    /// The certificate of the client, after the TLS handshake.
    pub(super) certificate: Option<ClientCertificate>,
    /// Whether it is encrypted.
    pub(super) has_tls: bool,
    /// Becomes true when the server stops.
    pub(super) stopped: watch::Receiver<bool>,
    /// When the connection is closed, unless its deadline changes before.
    deadline: watch::Sender<Option<Instant>>,
}

impl Connection {
    /// Creates a connection that waits for its first request.
    pub(super) fn new(
        server: ApiServer,
        admission: Arc<Admission>,
        slot: &Slot,
        peer: IpAddr,
        stopped: watch::Receiver<bool>,
    ) -> Self {
        let (id, deadline) = (slot.connection, watch::Sender::new(None));
        let connection = Self { server, admission, id, peer, certificate: None, has_tls: false, stopped, deadline };
        connection.await_request();
        connection
    }

    /// Sets the deadline for the head of the next request.
    pub(super) fn await_request(&self) {
        self.deadline.send_replace(Instant::now().checked_add(self.admission.limits.header_timeout));
    }

    /// Removes the deadline: that of the body is part of the exchange.
    pub(super) fn begin_request(&self) {
        self.deadline.send_replace(None);
    }

    /// Sets the deadline for the response to be written.
    pub(super) fn begin_response(&self) {
        self.deadline.send_replace(Instant::now().checked_add(self.admission.limits.request_timeout));
    }

    /// Serves requests until the client or the server ends the connection, or another one replaces it.
    pub(super) async fn serve(self, stream: TcpStream, tls: Option<Tls>, slot: Slot, replaced: Replaced) {
        tokio::select! {
            _ = replaced => {}
            () = self.exchange(stream, tls) => {}
        }
        drop(slot);
    }

    async fn exchange(mut self, mut stream: TcpStream, tls: Option<Tls>) {
        // Events are small and must not be delayed. Fails if the connection is closed.
        drop(stream.set_nodelay(true));
        let is_completed = match tls {
            None => self.exchange_on(&mut stream).await,
            Some(tls) => {
                let Some(secured) = self.handshake(&tls, &mut stream).await else { return };
                self.has_tls = true;
                self.certificate = tls.client_certificate(secured.get_ref().1);
                self.await_request();
                self.exchange_on(secured).await
            }
        };
        if is_completed {
            linger(&stream).await;
        }
    }

    /// Performs the TLS handshake. Returns `None` if it fails or takes too long, or the server stops.
    async fn handshake<'a>(&self, tls: &Tls, stream: &'a mut TcpStream) -> Option<TlsStream<&'a mut TcpStream>> {
        let mut stopped = self.stopped.clone();
        let accepted = async move {
            if tls::reject_plain_http(stream).await {
                linger(stream).await;
                return None;
            }
            tls.accept(stream).await
        };
        tokio::select! {
            biased;
            () = async { drop(stopped.wait_for(|stopped| *stopped).await) } => None,
            accepted = timeout(self.admission.limits.handshake_timeout, accepted) => accepted.ok().flatten(),
        }
    }

    /// Serves requests on a stream. Returns whether it ended before its deadline.
    async fn exchange_on(self, stream: impl AsyncRead + AsyncWrite + Unpin) -> bool {
        let (deadline, mut stopped) = (self.deadline.subscribe(), self.stopped.clone());
        let connection = Arc::new(self);
        let service = service_fn(move |request| exchange::respond(Arc::clone(&connection), request));
        let http = http1::Builder::new()
            // The deadline of the connection includes that of the headers.
            .header_read_timeout(None::<Duration>)
            .max_buf_size(MAX_HEADER_BYTES)
            .max_header_size(MAX_HEADER_BYTES)
            .serve_connection(TokioIo::new(stream), service);
        let completed = async move {
            let mut http = pin!(http);
            tokio::select! {
                // Broken connections are ignored.
                _ = http.as_mut() => return,
                () = async { drop(stopped.wait_for(|stopped| *stopped).await) } => {}
            }
            http.as_mut().graceful_shutdown();
            drop(http.await);
        };
        tokio::select! {
            biased;
            () = exceeded(deadline) => false,
            () = completed => true,
        }
    }
}

/// Waits until the deadline passes.
async fn exceeded(mut deadline: watch::Receiver<Option<Instant>>) {
    loop {
        let current = *deadline.borrow_and_update();
        let passed = async {
            match current {
                Some(current) => sleep_until(current).await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            Ok(()) = deadline.changed() => {}
            () = passed => return,
        }
    }
}

/// Reads and discards until the client closes the connection, or a limit is reached.
async fn linger(stream: &TcpStream) {
    let discarded = async {
        let mut remaining = MAX_LINGER_BYTES;
        while remaining > 0 && stream.readable().await.is_ok() {
            match stream.try_read(&mut [0; 4 << 10]) {
                Ok(0) => return,
                Ok(read) => remaining = remaining.saturating_sub(read),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
        }
    };
    // The connection is closed in both cases.
    let _ = timeout(LINGER_TIMEOUT, discarded).await;
}
