//! One connection: its requests, its deadline, and its end.

use std::{future::pending, io, net::IpAddr, pin::pin, sync::Arc, time::Duration};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::TcpStream,
    sync::watch,
    time::{Instant, sleep_until, timeout},
};

use crate::server::{
    api_server::ApiServer,
    serve::{
        admission::{Admission, Replaced, Slot},
        exchange,
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
        let connection =
            Self { server, admission, id: slot.connection, peer, stopped, deadline: watch::Sender::new(None) };
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
    pub(super) async fn serve(self, stream: TcpStream, slot: Slot, replaced: Replaced) {
        tokio::select! {
            _ = replaced => {}
            () = self.exchange(stream) => {}
        }
        drop(slot);
    }

    async fn exchange(self, mut stream: TcpStream) {
        // Events are small and must not be delayed. Fails if the connection is closed.
        drop(stream.set_nodelay(true));
        let (deadline, mut stopped) = (self.deadline.subscribe(), self.stopped.clone());
        let connection = Arc::new(self);
        let service = service_fn(move |request| exchange::respond(Arc::clone(&connection), request));
        let http = http1::Builder::new()
            // The deadline of the connection includes that of the headers.
            .header_read_timeout(None::<Duration>)
            .max_buf_size(MAX_HEADER_BYTES)
            .max_header_size(MAX_HEADER_BYTES)
            .serve_connection(TokioIo::new(&mut stream), service);
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
            () = exceeded(deadline) => return,
            () = completed => {}
        }
        linger(&stream).await;
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
