//! A server on a free port, its service, and a client that sends bytes.

use std::{future::pending, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use kubewright_http::{Body, BoxService, DrainError, Limits, Peer, Server, listen};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinHandle,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

/// How long a test waits for an event.
const TIMEOUT: Duration = Duration::from_secs(30);
/// A timeout that tests wait for.
pub(crate) const SOON: Duration = Duration::from_millis(100);
/// A timeout that no test reaches.
pub(crate) const NEVER: Duration = Duration::from_secs(300);

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

/// Limits without timeouts that a test could reach.
pub(crate) fn limits() -> Limits {
    Limits {
        handshake_timeout: NEVER,
        header_timeout: NEVER,
        body_timeout: NEVER,
        request_timeout: NEVER,
        write_timeout: NEVER,
        idle_timeout: NEVER,
        drain_timeout: NEVER,
        ..Limits::default()
    }
}

/// The gate of the path `/gated`: requests announce that they run, and wait for a permit.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) running: Semaphore,
    pub(crate) open: Semaphore,
}

type ResponseBody = UnsyncBoxBody<Bytes, std::convert::Infallible>;

fn text(status: StatusCode, text: impl Into<Bytes>) -> Response<ResponseBody> {
    let mut response = Response::new(Full::new(text.into()).boxed_unsync());
    *response.status_mut() = status;
    response
}

async fn respond(gate: Arc<Gate>, request: Request<Body>) -> Response<ResponseBody> {
    let path = request.uri().path().to_owned();
    match path.as_str() {
        "/echo" => match request.into_body().collect().await {
            Ok(body) => text(StatusCode::OK, body.to_bytes()),
            Err(error) => text(error.status(), error.to_string()),
        },
        "/gated" => {
            gate.running.add_permits(1);
            gate.open.acquire().await.unwrap().forget();
            text(StatusCode::OK, "completed")
        }
        "/large" => text(StatusCode::OK, vec![b'a'; 64 << 20]),
        "/panic" => panic!("of the service"),
        "/peer" => text(StatusCode::OK, format!("{:?}", request.extensions().get::<Peer>().unwrap())),
        "/slow" => pending().await,
        // A stream of one part.
        "/stream" => {
            let part = Some(Ok(Frame::data(Bytes::from_static(b"part"))));
            let frames = futures::stream::unfold(part, |part| async move {
                match part {
                    Some(part) => Some((part, None)),
                    None => pending().await,
                }
            });
            Response::new(StreamBody::new(frames).boxed_unsync())
        }
        _ => text(StatusCode::NOT_FOUND, "not found"),
    }
}

/// A running server, which is aborted when it is dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) stop: CancellationToken,
    pub(crate) gate: Arc<Gate>,
    task: JoinHandle<Result<(), DrainError>>,
}

impl Running {
    pub(crate) fn start(limits: Limits) -> Self {
        Self::start_with(|server| server.limits(limits))
    }

    /// Starts a server with the service of the tests.
    pub(crate) fn start_with(configure: impl FnOnce(Server) -> Server) -> Self {
        let gate = Arc::new(Gate { running: Semaphore::new(0), open: Semaphore::new(0) });
        let of_service = Arc::clone(&gate);
        let service = BoxService::from_fn(move |request| respond(Arc::clone(&of_service), request));
        Self::serve(configure, service, gate)
    }

    /// Starts a server with another service.
    pub(crate) fn start_service(service: BoxService) -> Self {
        let gate = Arc::new(Gate { running: Semaphore::new(0), open: Semaphore::new(0) });
        Self::serve(|server| server.limits(limits()), service, gate)
    }

    fn serve(configure: impl FnOnce(Server) -> Server, service: BoxService, gate: Arc<Gate>) -> Self {
        let listener = TcpListener::from_std(listen("127.0.0.1:0".parse().unwrap()).unwrap()).unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
        let server = configure(Server::new("test", listener));
        let task = tokio::spawn(server.serve(service, stop.clone().cancelled_owned()));
        Running { address, stop, gate, task }
    }

    pub(crate) async fn connect(&self) -> Client {
        Client(soon(TcpStream::connect(self.address)).await.unwrap())
    }

    /// Returns the response to a request on a new connection.
    pub(crate) async fn get(&self, path: &str) -> String {
        let mut client = self.connect().await;
        client.send(&format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")).await;
        client.read_to_end().await
    }

    /// Waits until a request of the path `/gated` runs.
    pub(crate) async fn gated(&self) -> Client {
        let mut client = self.connect().await;
        client.get("/gated").await;
        soon(self.gate.running.acquire()).await.unwrap().forget();
        client
    }

    /// Stops the server and returns its result.
    pub(crate) async fn stop(mut self) -> Result<(), DrainError> {
        self.stop.cancel();
        soon(&mut self.task).await.unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A connection.
pub(crate) struct Client(pub(crate) TcpStream);

impl Client {
    pub(crate) async fn send(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).await.unwrap();
    }

    /// Sends a request, after which the connection remains open.
    pub(crate) async fn get(&mut self, path: &str) {
        self.send(&format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n")).await;
    }

    /// Reads until the server sends this text.
    pub(crate) async fn read_until(&mut self, end: &str) -> String {
        let mut text = Vec::new();
        while !text.ends_with(end.as_bytes()) {
            assert_ne!(soon(self.0.read_buf(&mut text)).await.unwrap(), 0, "{}", String::from_utf8_lossy(&text));
        }
        String::from_utf8(text).unwrap()
    }

    /// Reads until the server closes the connection. A reset is also an end.
    pub(crate) async fn read_to_end(&mut self) -> String {
        let mut text = Vec::new();
        let _ = soon(self.0.read_to_end(&mut text)).await;
        String::from_utf8(text).unwrap()
    }
}
