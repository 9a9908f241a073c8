//! Tests of the server with connections on the loopback interface.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    task::JoinSet,
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{Endpoints, Server, ServerConfig, ServerError};
use crate::{
    file_system::Disk,
    health::Health,
    journal::{JournalConfig, JournalThreads, Journals},
    metrics::Metrics,
    segment::Series,
};

/// After this time a test fails instead of hanging. Exceeds every timeout of the server.
const TIMEOUT: Duration = Duration::from_mins(10);

const LIVE: &str = "GET /livez HTTP/1.1\r\nhost: agent\r\n\r\n";
const START: &str = "POST /activity HTTP/1.1\r\nhost: agent\r\n";
const RECORD: &str = "{\"user\":\"jane\"}";
const CONTINUE: &str = "HTTP/1.1 100 Continue\r\n\r\n";

/// A server that runs on a task.
struct Fixture {
    address: SocketAddr,
    cancelled: CancellationToken,
    server: JoinSet<Result<(), ServerError>>,
    thread: JournalThreads,
    _directory: tempfile::TempDir,
}

fn config() -> ServerConfig {
    ServerConfig::new(([127, 0, 0, 1], 0).into())
}

impl Fixture {
    fn start(config: ServerConfig) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let series = Series::new(directory.path(), "log", "0").unwrap();
        let (journal_config, metrics) = (JournalConfig::new(Duration::from_millis(20)), Arc::new(Metrics::new()));
        let (journals, thread) = Journals::open(Arc::new(Disk), series, journal_config, Arc::clone(&metrics)).unwrap();
        let health = Health::new(journals.clone(), Duration::from_secs(600));
        let endpoints = Endpoints::new(journals, health, metrics, config.clone());
        let (server, cancelled) = (Server::bind(config).unwrap(), CancellationToken::new());
        let address = server.local_address();
        let server = JoinSet::from_iter([server.run(endpoints, cancelled.clone())]);
        Fixture { address, cancelled, server, thread, _directory: directory }
    }

    async fn connect(&self) -> Client {
        Client(TcpStream::connect(self.address).await.unwrap())
    }

    /// Connects from another address of the loopback interface.
    async fn connect_from(&self, address: [u8; 4]) -> Client {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((address, 0).into()).unwrap();
        Client(socket.connect(self.address).await.unwrap())
    }

    /// Posts a record, and returns the first line of the response, if there is one.
    async fn try_post_record(&self) -> Option<String> {
        let mut client = self.connect().await;
        let length = RECORD.len();
        let request = format!("{START}connection: close\r\ncontent-length: {length}\r\n\r\n{RECORD}");
        client.0.write_all(request.as_bytes()).await.ok()?;
        let mut text = String::new();
        client.0.read_to_string(&mut text).await.ok()?;
        Some(text.lines().next()?.to_owned())
    }

    /// Posts a record on a new connection, and returns the first line of the response.
    async fn post_record(&self) -> String {
        let mut client = self.connect().await;
        let length = RECORD.len();
        client.send(&format!("{START}content-length: {length}\r\n\r\n{RECORD}")).await;
        client.status_line().await
    }

    /// Waits until the server has ended.
    async fn ended(mut self) {
        within(self.server.join_next()).await.unwrap().unwrap().unwrap();
        self.thread.stop().await.unwrap();
    }

    async fn stop(self) {
        self.cancelled.cancel();
        self.ended().await;
    }
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(TIMEOUT, future).await.expect("the server responds or closes the connection")
}

/// A connection.
struct Client(TcpStream);

impl Client {
    async fn send(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).await.unwrap();
    }

    /// Sends the head of a record, and waits until the server receives its body.
    async fn start_record(&mut self) {
        let length = RECORD.len();
        let head = format!("{START}expect: 100-continue\r\ncontent-length: {length}\r\n\r\n");
        self.send(&head).await;
        self.read_continue().await;
    }

    async fn read_continue(&mut self) {
        let mut response = vec![0; CONTINUE.len()];
        within(self.0.read_exact(&mut response)).await.unwrap();
        assert_eq!(String::from_utf8(response).unwrap(), CONTINUE);
    }

    /// Returns what the server sends before it closes the connection.
    async fn read_to_end(&mut self) -> String {
        let mut text = Vec::new();
        within(self.0.read_to_end(&mut text)).await.unwrap();
        String::from_utf8(text).unwrap()
    }

    /// Returns the first line of the next response, whose other lines are read as well.
    async fn status_line(&mut self) -> String {
        let mut text: Vec<u8> = Vec::new();
        // The body of a successful response is JSON, or `ok`.
        while !text.ends_with(b"}") && !text.ends_with(b"ok") {
            assert_ne!(within(self.0.read_buf(&mut text)).await.unwrap(), 0, "{}", String::from_utf8_lossy(&text));
        }
        String::from_utf8(text).unwrap().lines().next().unwrap().to_owned()
    }
}

#[tokio::test]
async fn the_size_of_a_body_is_limited() {
    let fixture = Fixture::start(ServerConfig { max_body_bytes: RECORD.len(), ..config() });
    let mut client = fixture.connect().await;
    client.start_record().await;
    client.send(RECORD).await;
    assert_eq!(client.status_line().await, "HTTP/1.1 200 OK");
    // The length is not declared.
    let (length, chunk) = (RECORD.len() + 1, format!("{RECORD} "));
    client.send(&format!("{START}transfer-encoding: chunked\r\n\r\n{length:x}\r\n{chunk}\r\n")).await;
    let response = client.read_to_end().await;
    assert!(response.starts_with("HTTP/1.1 413 ") && response.ends_with("the body exceeds 15 bytes\n"), "{response}");
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_body_is_limited() {
    let fixture = Fixture::start(config());
    let mut client = fixture.connect().await;
    client.start_record().await;
    client.send(&RECORD[..5]).await;
    let response = client.read_to_end().await;
    assert!(response.starts_with("HTTP/1.1 408 "), "{response}");
    assert!(response.ends_with("the body was not received within 30s\n"), "{response}");
    fixture.stop().await;
}

#[tokio::test]
async fn the_size_of_headers_is_limited() {
    let fixture = Fixture::start(config());
    let mut client = fixture.connect().await;
    let start = "GET /livez HTTP/1.1\r\nx-long: ";
    // Exactly the limit, without the end of the headers, so that the server reads everything before it responds.
    client.send(&format!("{start}{}", "x".repeat((64 << 10) - start.len()))).await;
    let response = client.read_to_end().await;
    assert!(response.starts_with("HTTP/1.1 431 "), "{response}");
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_time_of_headers_is_limited() {
    let fixture = Fixture::start(config());
    let mut client = fixture.connect().await;
    client.send("GET /livez HTTP/1.1\r\nhost: ag").await;
    assert_eq!(client.read_to_end().await, "", "the connection is closed without a response");
    fixture.stop().await;
}

#[tokio::test]
async fn the_number_of_connections_is_limited_except_for_probes() {
    let fixture = Fixture::start(ServerConfig { max_connections: 1, ..config() });
    let mut first = fixture.connect().await;
    first.send(LIVE).await;
    assert_eq!(first.status_line().await, "HTTP/1.1 200 OK");
    let mut second = fixture.connect().await;
    second.send(LIVE).await;
    let response = second.read_to_end().await;
    assert!(response.starts_with("HTTP/1.1 200 OK") && response.ends_with("ok"), "{response}");
    let mut third = fixture.connect().await;
    third.send(&format!("{START}content-length: 2\r\n\r\n{{}}")).await;
    let response = third.read_to_end().await;
    assert!(response.starts_with("HTTP/1.1 503 ") && response.ends_with("too many connections; retry later\n"));
    drop(first);
    let posted = async { while fixture.try_post_record().await.as_deref() != Some("HTTP/1.1 200 OK") {} };
    within(posted).await;
    fixture.stop().await;
}

#[tokio::test]
async fn connections_of_one_peer_do_not_stop_probes() {
    let fixture = Fixture::start(ServerConfig { max_connections: 8, ..config() });
    let mut held = Vec::new();
    for _ in 0..64 {
        held.push(fixture.connect().await);
    }
    for path in ["livez", "metrics"] {
        let mut probe = fixture.connect_from([127, 0, 0, 2]).await;
        probe.send(&format!("GET /{path} HTTP/1.1\r\nhost: agent\r\nconnection: close\r\n\r\n")).await;
        let response = probe.read_to_end().await;
        assert!(response.starts_with("HTTP/1.1 200 OK"), "{response}");
    }
    drop(held);
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_reads_loses_its_connection() {
    let fixture = Fixture::start(config());
    let mut client = fixture.connect().await;
    let requests = "GET /metrics HTTP/1.1\r\nhost: agent\r\n\r\n".repeat(100);
    let written = async { while client.0.write_all(requests.as_bytes()).await.is_ok() {} };
    within(written).await;
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_connection_without_a_request_ends_soon() {
    let fixture = Fixture::start(config());
    let (mut client, started) = (fixture.connect().await, Instant::now());
    assert_eq!(client.read_to_end().await, "");
    assert!(started.elapsed() <= Duration::from_secs(11), "{:?}", started.elapsed());
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn connections_end_with_the_server_also_after_the_drain_timeout() {
    let fixture = Fixture::start(config());
    let mut client = fixture.connect().await;
    client.start_record().await;
    fixture.cancelled.cancel();
    // The client never sends the body, and the drain timeout is shorter than that of the body.
    fixture.ended().await;
    assert_eq!(client.read_to_end().await, "", "the request has no response");
}

#[tokio::test]
async fn four_idle_bodies_do_not_stop_ingestion() {
    let fixture = Fixture::start(config());
    let mut held = Vec::new();
    for length in [10 << 20, 10 << 20, 10 << 20, 2 << 20] {
        let mut client = fixture.connect().await;
        client.send(&format!("{START}expect: 100-continue\r\ncontent-length: {length}\r\n\r\n")).await;
        client.read_continue().await;
        held.push(client);
    }
    assert_eq!(fixture.post_record().await, "HTTP/1.1 200 OK");
    drop(held);
    fixture.stop().await;
}

#[tokio::test]
async fn incomplete_bodies_of_one_peer_do_not_use_all_memory() {
    let fixture = Fixture::start(ServerConfig { max_body_bytes: 1 << 20, ..config() });
    // 32 MiB can be unacknowledged.
    let mut held = Vec::new();
    let part = " ".repeat((1 << 20) - 1);
    for _ in 0..32 {
        let mut client = fixture.connect().await;
        let length = 1 << 20;
        client.send(&format!("{START}expect: 100-continue\r\ncontent-length: {length}\r\n\r\n")).await;
        client.read_continue().await;
        // The server closes a connection whose body has no share.
        drop(client.0.write_all(part.as_bytes()).await);
        held.push(client);
    }
    let mut client = fixture.connect_from([127, 0, 0, 2]).await;
    let length = RECORD.len();
    client.send(&format!("{START}content-length: {length}\r\n\r\n{RECORD}")).await;
    assert_eq!(client.status_line().await, "HTTP/1.1 200 OK");
    drop(held);
    fixture.stop().await;
}
