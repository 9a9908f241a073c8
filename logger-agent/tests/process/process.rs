//! A process of the agent, and a client of it.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Child, Command, ExitStatus, Output, Stdio},
    time::Duration,
};

use logger_agent::{Record, segment};
use rustix::process::{Pid, Signal, kill_process};

/// After this time a client reports an error instead of a hanging test.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A running agent. It is killed when dropped.
pub(crate) struct Agent {
    child: Child,
    address: SocketAddr,
}

/// Returns the command of an agent without options.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_logger-agent"));
    command.env_clear().env("RUST_LOG", "error").stdin(Stdio::null());
    command
}

/// Runs an agent that ends by itself.
pub(crate) fn output(args: &[&str]) -> Output {
    program().args(args).output().unwrap()
}

impl Agent {
    /// Starts an agent of the log `access` and waits until it listens.
    pub(crate) fn start(directory: &Path, args: &[&str]) -> Self {
        let mut command = program();
        command.args(["run", "--name", "access", "--listen", "127.0.0.1:0", "--directory"]).arg(directory).args(args);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening on ").and_then(|address| address.parse().ok());
        Agent { child, address: address.unwrap_or_else(|| panic!("the agent printed {line:?}")) }
    }

    /// Returns the id of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn client(&self) -> io::Result<Client> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        Ok(Client { stream: BufReader::new(stream) })
    }

    /// Kills the process, without a chance to do anything.
    pub(crate) fn kill(&self) {
        kill_process(Pid::from_child(&self.child), Signal::KILL).unwrap();
    }

    /// Sends SIGTERM and waits for the end.
    pub(crate) fn terminate(mut self) -> ExitStatus {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.child.wait().unwrap()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // It has ended after `terminate`.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A connection.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    /// Posts an object and returns the code of the response.
    pub(crate) fn post(&mut self, path: &str, headers: &str, body: &str) -> io::Result<u16> {
        self.send("POST", path, headers, body).map(|(code, _)| code)
    }

    /// Returns the code and the body of the response.
    pub(crate) fn send(&mut self, method: &str, path: &str, headers: &str, body: &str) -> io::Result<(u16, String)> {
        let length = body.len();
        let head = format!("{method} {path} HTTP/1.1\r\nHost: agent\r\nContent-Length: {length}\r\n{headers}\r\n");
        self.stream.get_mut().write_all((head + body).as_bytes())?;
        let code = self.line()?.split(' ').nth(1).and_then(|code| code.parse().ok());
        let mut length = 0;
        loop {
            let line = self.line()?.to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        let body = String::from_utf8(body).map_err(io::Error::other)?;
        code.map(|code| (code, body)).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        match self.stream.read_line(&mut line)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(line.trim_end().to_owned()),
        }
    }
}

/// Returns all records of a directory by their sequence numbers. Each line must be a record, and each sequence number
/// must occur once.
pub(crate) fn records(directory: &Path) -> BTreeMap<u64, Record> {
    let mut records = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if !segment::is_segment(&path) {
            continue;
        }
        let scan = segment::scan(fs::File::open(&path).unwrap(), |line, record| {
            let record = record.unwrap_or_else(|error| panic!("{}:{line}: {error}", path.display()));
            let sequence = record.sequence;
            assert!(records.insert(sequence, record).is_none(), "sequence number {sequence} occurs twice");
        });
        assert_eq!(scan.unwrap().torn_bytes(), 0, "{}", path.display());
    }
    records
}
