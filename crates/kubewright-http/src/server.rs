//! The server: it accepts connections, and drains them when it stops.

use std::{io, net::IpAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use tokio::{
    net::{TcpListener, TcpStream},
    task::{JoinError, JoinSet},
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tower_service::Service;

#[cfg(feature = "tls")]
use crate::tls::Tls;
use crate::{
    admission::{Admission, Opened, Replaced, Slot},
    body::Body,
    budget::Budget,
    connection::Connection,
    limits::Limits,
    observer::Observer,
    service::{BoxError, BoxService},
    status::Status,
    timed_stream::Phases,
};

/// The pause after a connection could not be accepted, for example with too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves a service on a listener. The documentation of the crate lists the guarantees.
#[derive(Debug)]
#[must_use = "a server serves only while it runs"]
pub struct Server {
    listener: TcpListener,
    config: Config,
    status: Status,
}

/// What all connections of a server share.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) name: Arc<str>,
    pub(crate) limits: Limits,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<Tls>,
    pub(crate) observer: Arc<dyn Observer>,
}

impl Config {
    /// Returns the deadline of a request whose headers are complete.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        Instant::now().checked_add(self.limits.request_timeout)
    }

    fn has_tls(&self) -> bool {
        #[cfg(feature = "tls")]
        return self.tls.is_some();
        #[cfg(not(feature = "tls"))]
        return false;
    }
}

/// The error for requests that were still in progress after the drain timeout, and were cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("closed {connections} connections with requests in progress after {timeout:?}")]
pub struct DrainError {
    /// The number of connections.
    pub connections: usize,
    /// The drain timeout.
    pub timeout: Duration,
}

impl Server {
    /// Creates a server with the default limits. Its name occurs in logs.
    pub fn new(name: impl Into<Arc<str>>, listener: TcpListener) -> Self {
        let config = Config {
            name: name.into(),
            limits: Limits::default(),
            #[cfg(feature = "tls")]
            tls: None,
            observer: Arc::new(()),
        };
        Server { listener, config, status: Status::default() }
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.config.limits = limits;
        self
    }

    /// Serves HTTPS.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.config.tls = Some(tls);
        self
    }

    /// Sets the receiver of the events of the server, such as metrics.
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.config.observer = Arc::new(observer);
        self
    }

    /// Sets the handle to the status of the server.
    pub fn status(mut self, status: Status) -> Self {
        self.status = status;
        self
    }

    /// Serves until `stop` completes, and then completes the requests in progress.
    ///
    /// # Errors
    /// Fails if requests were still in progress after the drain timeout.
    pub async fn serve<S, B>(self, service: S, stop: impl Future<Output = ()>) -> Result<(), DrainError>
    where
        S: Service<Request<Body>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let Server { listener, config, status } = self;
        let _stopped = status.stop_on_drop();
        let mut connections = Connections::new(config, BoxService::new(service), status);
        tokio::select! {
            biased;
            () = stop => {}
            () = connections.accept(&listener) => {}
        }
        drop(listener);
        connections.drain().await
    }
}

/// The connections of a running server, each in a task.
struct Connections {
    config: Arc<Config>,
    service: BoxService,
    budget: Budget,
    admission: Arc<Admission>,
    /// Cancelled when the requests in progress are to be the last ones.
    draining: CancellationToken,
    tasks: JoinSet<()>,
    status: Status,
}

impl Connections {
    fn new(config: Config, service: BoxService, status: Status) -> Self {
        let Limits { max_total_body_bytes, max_body_bytes, .. } = config.limits;
        let [total, max_per_peer] = [max_total_body_bytes, max_total_body_bytes / 2].map(|max| max.max(max_body_bytes));
        Connections {
            admission: Arc::new(Admission::new(config.limits)),
            config: Arc::new(config),
            service,
            budget: Budget::new(total, max_per_peer),
            draining: CancellationToken::new(),
            tasks: JoinSet::new(),
            status,
        }
    }

    /// Accepts connections until dropped.
    async fn accept(&mut self, listener: &TcpListener) {
        loop {
            self.status.set_accepting();
            tokio::select! {
                Some(ended) = self.tasks.join_next() => self.ended(ended),
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) => self.admit(stream, peer.ip().to_canonical()).await,
                    Err(error) => self.pause(&error).await,
                },
            }
        }
    }

    /// Serves or closes an accepted connection. If it has to wait, further ones wait in the backlog of the system.
    async fn admit(&mut self, stream: TcpStream, peer: IpAddr) {
        loop {
            match self.admission.open(peer) {
                Opened::Admitted(slot, replaced) => return self.start(stream, peer, slot, replaced),
                Opened::Rejected => {
                    tracing::debug!(server = &*self.config.name, %peer, "the peer has too many connections");
                    return self.config.observer.rejected(peer);
                }
                Opened::Waits => self.status.set_full(),
            }
            tokio::select! {
                () = self.admission.changed() => {}
                Some(ended) = self.tasks.join_next() => self.ended(ended),
            }
        }
    }

    fn start(&mut self, stream: TcpStream, peer: IpAddr, slot: Slot, replaced: Replaced) {
        // Responses are written at once, and must not wait for an acknowledgement. Fails if the connection is closed.
        drop(stream.set_nodelay(true));
        let connection = Connection {
            config: Arc::clone(&self.config),
            service: self.service.clone(),
            budget: self.budget.clone(),
            address: peer,
            slot: Arc::new(slot),
            phases: Phases::new(self.config.limits, self.config.has_tls()),
            draining: self.draining.clone(),
        };
        let observer = Arc::clone(&self.config.observer);
        observer.opened(peer);
        self.tasks.spawn(async move {
            connection.serve(stream, replaced).await;
            observer.closed(peer);
        });
    }

    /// Handles the end of a task. Panics of services are caught in the exchange: this is one of the body of a response.
    fn ended(&self, ended: Result<(), JoinError>) {
        if let Err(error) = ended
            && error.is_panic()
        {
            tracing::error!(server = &*self.config.name, %error, "the task of a connection panicked");
        }
    }

    /// Waits after a connection could not be accepted. A connection that the client has closed needs no pause.
    async fn pause(&self, error: &io::Error) {
        if matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset) {
            return;
        }
        tracing::warn!(server = &*self.config.name, %error, "a connection cannot be accepted");
        self.status.set_failed(error);
        self.admission.make_room();
        sleep(ACCEPT_PAUSE).await;
    }

    /// Completes requests in progress within the drain timeout, and closes all connections.
    async fn drain(mut self) -> Result<(), DrainError> {
        self.draining.cancel();
        let drain_timeout = self.config.limits.drain_timeout;
        let drained = timeout(drain_timeout, async {
            while let Some(ended) = self.tasks.join_next().await {
                self.ended(ended);
            }
        });
        if drained.await.is_ok() {
            return Ok(());
        }
        let connections = self.tasks.len();
        self.tasks.shutdown().await;
        tracing::warn!(server = &*self.config.name, connections, "requests in progress were cancelled by the stop");
        Err(DrainError { connections, timeout: drain_timeout })
    }
}
