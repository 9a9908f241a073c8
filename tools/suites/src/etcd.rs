//! The part of etcd that envtest uses: its flag for the address of clients, and its health check.

use std::{
    convert::Infallible,
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs},
    time::Duration,
};

use anyhow::{Context, Result};

/// The flag with the URLs on which etcd serves clients.
const CLIENT_URLS: &str = "listen-client-urls";
/// How long a client may take to send a request or to receive the response.
const TIMEOUT: Duration = Duration::from_secs(1);
/// The maximum size of a request.
const REQUEST_BYTES: u64 = 16 * 1024;

/// The help, in which envtest searches for flags.
pub const HELP: &str = "The health check of etcd.\n\nFlags:\n  --listen-client-urls\n  --unsafe-no-fsync\n";

/// Returns the address on which etcd serves clients with these arguments: the first URL of `--listen-client-urls`.
/// Other flags have no effect.
///
/// # Errors
/// Fails if the flag is missing, or its URL is not `http://` with an address and a port.
pub fn client_address(args: &[String]) -> Result<SocketAddr> {
    let urls = args.iter().rev().find_map(|arg| arg.strip_prefix("--")?.strip_prefix(CLIENT_URLS)?.strip_prefix('='));
    let urls = urls.with_context(|| format!("`--{CLIENT_URLS}=http://ADDRESS:PORT` is missing"))?;
    let url = urls.split(',').next().unwrap_or(urls);
    let invalid = || format!("invalid `--{CLIENT_URLS}` `{urls}`: expected `http://ADDRESS:PORT`");
    let address = url.strip_prefix("http://").with_context(invalid)?;
    address.to_socket_addrs().with_context(invalid)?.next().with_context(invalid)
}

/// Responds to health checks, one after the other: `/health` succeeds, and other paths are not found. Does not return
/// unless the socket fails.
///
/// # Errors
/// Fails if no connection can be accepted.
pub fn serve(listener: &TcpListener) -> io::Result<Infallible> {
    loop {
        let (stream, _) = listener.accept()?;
        // A client that disconnects does not affect others.
        drop(respond(&stream));
    }
}

fn respond(mut stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let mut lines = BufReader::new(stream.take(REQUEST_BYTES)).lines();
    let request = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    // A connection that is closed with unread data is reset, possibly before the client has read the response.
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let (status, body) = match request.split(' ').nth(1) {
        Some("/health") => ("200 OK", r#"{"health":"true","reason":""}"#),
        _ => ("404 Not Found", ""),
    };
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn address(args: &[&str]) -> Result<SocketAddr> {
        client_address(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_address_is_that_of_the_first_client_url() {
        let args = ["--data-dir=d", "--listen-client-urls=http://127.0.0.1:1,http://127.0.0.1:2", "--name=n"];
        assert_eq!(address(&args).unwrap(), SocketAddr::from(([127, 0, 0, 1], 1)));
    }

    #[test]
    fn an_invalid_address_is_an_error_that_names_the_flag() {
        for args in [&["--listen-peer-urls=http://127.0.0.1:1"][..], &["--listen-client-urls=unix://a"], &[]] {
            let error = address(args).unwrap_err().to_string();
            assert!(error.contains("--listen-client-urls"), "{error}");
        }
    }

    #[test]
    fn health_checks_succeed_also_after_a_client_that_sends_nothing() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        // Ends with the process.
        thread::spawn(move || serve(&listener));
        drop(TcpStream::connect(address).unwrap());
        for (path, status) in [("/health", "HTTP/1.1 200 OK"), ("/other", "HTTP/1.1 404 Not Found")] {
            let mut stream = TcpStream::connect(address).unwrap();
            write!(stream, "GET {path} HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
            let mut response = String::new();
            stream.read_to_string(&mut response).unwrap();
            assert!(response.starts_with(status), "{response}");
        }
    }
}
