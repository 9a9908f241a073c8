//! A server on a free port, a client for it, and certificates.

use std::{future::Future, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use kubewright_manager::serving::{Certificates, Handler, Router, Server, ServerConfig, ServerError, handler::text};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite},
    net::TcpStream,
    sync::Semaphore,
    task::{AbortHandle, JoinHandle},
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

/// How long a test waits for an event.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A timeout that no test reaches.
pub(crate) const NEVER: Duration = Duration::from_secs(300);

/// A timeout that tests wait for.
pub(crate) const SOON: Duration = Duration::from_millis(100);

/// Awaits an event.
pub(crate) async fn soon<F: Future>(event: F) -> F::Output {
    timeout(TIMEOUT, event).await.expect("the event occurs in time")
}

/// Waits until a condition is met that has no event.
pub(crate) async fn until(mut condition: impl AsyncFnMut() -> bool) {
    soon(async {
        while !condition().await {
            sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

/// Options of a server on a free port, without timeouts that a test could reach.
pub(crate) fn config() -> ServerConfig {
    ServerConfig::new("test", 0).header_timeout(NEVER).request_timeout(NEVER).idle_timeout(NEVER).drain_timeout(NEVER)
}

/// A handler that responds with its name and the body.
pub(crate) fn echo() -> impl Handler {
    |request: Request<Bytes>| async move { text(StatusCode::OK, request.into_body()) }
}

/// A router with an echo.
pub(crate) fn router() -> Router {
    Router::new().get("/echo", echo()).post("/echo", echo())
}

/// A router whose handler of `/gated` announces that it runs, and waits for a permit.
pub(crate) fn gated() -> (Router, Arc<Semaphore>, Arc<Semaphore>) {
    let (running, gate) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let (announce, wait) = (Arc::clone(&running), Arc::clone(&gate));
    let router = router().get("/gated", move |_: Request<Bytes>| {
        let (announce, wait) = (Arc::clone(&announce), Arc::clone(&wait));
        async move {
            announce.add_permits(1);
            wait.acquire().await.unwrap().forget();
            text(StatusCode::OK, "completed")
        }
    });
    (router, running, gate)
}

/// A running server, which is aborted when it is dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) cancelled: CancellationToken,
    task: JoinHandle<Result<(), ServerError>>,
}

impl Running {
    pub(crate) async fn start(config: ServerConfig, router: Router) -> Self {
        Self::run(Server::bind(config, router).unwrap())
    }

    pub(crate) async fn start_tls(certificates: &Certificates) -> Self {
        Self::start_with(config(), router(), certificates).await
    }

    pub(crate) async fn start_with(config: ServerConfig, router: Router, certificates: &Certificates) -> Self {
        Self::run(Server::bind(config, router).unwrap().tls(certificates.clone()))
    }

    fn run(server: Server) -> Self {
        let (address, cancelled) = (server.local_address(), CancellationToken::new());
        let task = tokio::spawn(server.run(cancelled.clone()));
        Running { address, cancelled, task }
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        soon(TcpStream::connect(self.address)).await.unwrap()
    }

    pub(crate) async fn client(&self) -> Client {
        Client::new(self.connect().await).await
    }

    /// Returns the response to a request on a new connection.
    pub(crate) async fn get(&self, path: &str) -> (u16, String) {
        self.client().await.get(path).await
    }

    /// Cancels the server and returns its result.
    pub(crate) async fn stop(mut self) -> Result<(), ServerError> {
        self.cancelled.cancel();
        soon(&mut self.task).await.unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A client with one connection.
pub(crate) struct Client {
    sender: SendRequest<Full<Bytes>>,
    connection: AbortHandle,
}

impl Client {
    pub(crate) async fn new<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(stream: S) -> Self {
        let (sender, connection) = handshake(TokioIo::new(stream)).await.unwrap();
        let connection = tokio::spawn(async move {
            // Tests observe the end of a connection at its requests.
            let _ = connection.await;
        });
        Client { sender, connection: connection.abort_handle() }
    }

    pub(crate) async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Response<Bytes>, hyper::Error> {
        soon(self.sender.ready()).await?;
        let (parts, body) = soon(self.sender.send_request(request)).await?.into_parts();
        Ok(Response::from_parts(parts, soon(body.collect()).await?.to_bytes()))
    }

    pub(crate) async fn request(&mut self, method: Method, path: &str, body: impl Into<Bytes>) -> (u16, String) {
        let response = self.send(request(method, path, body)).await.unwrap();
        (response.status().as_u16(), String::from_utf8(response.body().to_vec()).unwrap())
    }

    pub(crate) async fn get(&mut self, path: &str) -> (u16, String) {
        self.request(Method::GET, path, Bytes::new()).await
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

pub(crate) fn request(method: Method, path: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    Request::builder().method(method).uri(path).header("host", "localhost").body(Full::new(body.into())).unwrap()
}

/// Reads until the server closes the connection. A reset is also an end.
pub(crate) async fn read_to_end(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = soon(stream.read_to_end(&mut bytes)).await;
    String::from_utf8(bytes).unwrap()
}
