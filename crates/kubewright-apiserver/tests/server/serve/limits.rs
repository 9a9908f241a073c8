//! The limits of a server on a socket: deadlines, requests in flight and connections.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use kubewright_apiserver::{
    ApiServer,
    serve::{self, Limits},
};
use tokio::sync::oneshot;

use super::program::{Program, connect, receive, send};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const JSON: &str = "Content-Type: application/json\r\n";
/// How long a condition may take to become true.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A server in a thread of the test. It stops on drop.
struct Server {
    address: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    fn start(limits: Limits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let stop = async {
                    let _: Result<(), _> = stopped.await;
                };
                serve::serve(ApiServer::new(), listener, limits, stop).await;
            });
        });
        Self { address, stop: Some(stop), thread: Some(thread) }
    }

    fn get(&self, path: &str, user_agent: &str) -> u16 {
        send(&self.address, "GET", path, &format!("User-Agent: {user_agent}\r\n"), b"").unwrap().code
    }

    fn create(&self, name: &str, value: &str) {
        let body = format!(r#"{{"metadata":{{"name":"{name}"}},"data":{{"value":"{value}"}}}}"#);
        assert_eq!(send(&self.address, "POST", CONFIG_MAPS, JSON, body.as_bytes()).unwrap().code, 201);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Reads the status line of a response.
fn status(stream: &mut impl BufRead) -> u16 {
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    line.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_else(|| panic!("{line:?}"))
}

/// Waits until the server closes a connection without a response.
fn is_closed(stream: &mut TcpStream) -> bool {
    matches!(stream.read(&mut [0]), Ok(0))
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < TIMEOUT, "{what}");
    }
}

/// Sends the first byte of a body of 1000 bytes when the server waits for it. Returns the code of the first response.
fn begin_slow_post(address: &str) -> (TcpStream, u16) {
    let mut stream = connect(address).unwrap();
    let head = format!(
        "POST {CONFIG_MAPS} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: slow\r\n{JSON}\
         Content-Length: 1000\r\nExpect: 100-continue\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let code = status(&mut BufReader::new(&stream));
    if code == 100 {
        stream.write_all(b"{").unwrap();
    }
    (stream, code)
}

#[test]
fn slow_bodies_of_one_client_do_not_stop_others() {
    let program = Program::start(&["--request-timeout", "600"]);
    let (mut in_flight, mut rejected) = (Vec::new(), 0);
    for _ in 0..4200 {
        match begin_slow_post(program.address()) {
            (stream, 100) => in_flight.push(stream),
            (_, 429) => rejected += 1,
            (_, code) => panic!("{code}"),
        }
    }
    assert_eq!((in_flight.len(), rejected), (100, 4100), "one client gets half of the 200 slots");
    let body = br#"{"metadata":{"name":"a"}}"#;
    let slow = format!("User-Agent: slow\r\n{JSON}");
    let rejection = send(program.address(), "POST", CONFIG_MAPS, &slow, body).unwrap();
    assert_eq!((rejection.code, rejection.header("retry-after")), (429, "1"));
    assert_eq!(rejection.text(), "Too many requests, please try again later.\n");
    assert_eq!(program.get(CONFIG_MAPS, "User-Agent: slow\r\n").code, 200, "reads have their own slots");
    assert_eq!(program.post(CONFIG_MAPS, body).code, 201);
    drop(in_flight);
    wait_until("the slots of closed connections are free", || {
        send(program.address(), "POST", CONFIG_MAPS, &slow, body).unwrap().code == 409
    });
}

#[test]
fn the_numbers_of_requests_in_flight_are_configurable() {
    let program = Program::start(&["--max-mutating-requests-inflight", "2", "--max-requests-inflight", "0"]);
    let (_in_flight, code) = begin_slow_post(program.address());
    assert_eq!((code, begin_slow_post(program.address()).1), (100, 429));
    assert_eq!(program.get(CONFIG_MAPS, "User-Agent: slow\r\n").code, 200);
}

#[test]
fn a_body_that_is_not_received_in_time_is_rejected_with_504() {
    let server = Server::start(Limits { request_timeout: Duration::from_millis(200), ..Limits::default() });
    let mut stream = connect(&server.address).unwrap();
    let head = format!("POST {CONFIG_MAPS} HTTP/1.1\r\nHost: localhost\r\n{JSON}Content-Length: 1000\r\n\r\n{{");
    stream.write_all(head.as_bytes()).unwrap();
    let answer = receive(stream).unwrap();
    assert_eq!((answer.code, answer.json()["reason"].as_str()), (504, Some("Timeout")));
    assert_eq!(answer.json()["message"], "Timeout: request did not complete within the allotted timeout");
}

#[test]
fn a_head_that_is_not_received_in_time_closes_the_connection() {
    let server = Server::start(Limits { header_timeout: Duration::from_millis(200), ..Limits::default() });
    let mut slow = connect(&server.address).unwrap();
    slow.write_all(b"GET /livez HTTP/1.1\r\n").unwrap();
    assert!(is_closed(&mut slow));
    assert!(is_closed(&mut connect(&server.address).unwrap()), "without a request");
}

#[test]
fn a_response_that_is_not_read_is_in_flight_until_its_deadline() {
    let limits = Limits { max_requests_in_flight: 2, request_timeout: Duration::from_secs(2), ..Limits::default() };
    let server = Server::start(limits);
    let value = "x".repeat(1_000_000);
    (0..16).for_each(|number| server.create(&format!("cm-{number}"), &value));
    let mut stalled = connect(&server.address).unwrap();
    let list = format!("GET {CONFIG_MAPS} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: stalled\r\n\r\n");
    // The second request is received while the response to the first one is written.
    stalled.write_all(list.repeat(2).as_bytes()).unwrap();
    wait_until("the response is in flight", || server.get("/livez", "stalled") == 429);
    assert_eq!(server.get("/livez", "other"), 200);
    wait_until("the connection is closed", || server.get("/livez", "stalled") == 200);
}

#[test]
fn the_head_of_a_request_has_at_most_one_mebibyte_exactly() {
    let program = Program::start(&[]);
    for (length, code) in [(1 << 20, 200), ((1 << 20) + 1, 431)] {
        let start = "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Padding: ";
        let head = format!("{start}{}\r\n\r\n", "x".repeat(length - start.len() - 4));
        let mut stream = connect(program.address()).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        assert_eq!((head.len(), receive(stream).unwrap().code), (length, code));
    }
}

#[test]
fn a_new_connection_replaces_the_one_that_waits_longest() {
    let server = Server::start(Limits { max_connections: 4, ..Limits::default() });
    let mut waiting: Vec<TcpStream> = (0..6).map(|_| connect(&server.address).unwrap()).collect();
    assert_eq!(server.get("/livez", "other"), 200);
    assert!(waiting[..3].iter_mut().all(is_closed));
    waiting[5].write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    assert_eq!(receive(waiting.remove(5)).unwrap().code, 200);
}
