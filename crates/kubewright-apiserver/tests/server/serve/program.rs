//! The program as a child process, and a minimal HTTP client.

use std::{
    collections::BTreeSet,
    io::{self, BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_kubewright-apiserver");
const INSECURE: [&str; 3] = ["--insecure", "--port", "0"];

/// The running program. It is killed on drop.
pub(crate) struct Program {
    child: Child,
    address: String,
}

impl Program {
    /// Starts the program on a free port, without TLS and authentication, and waits until it listens.
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::run(command(args))
    }

    /// Starts the program with TLS and authentication, and waits until it listens.
    pub(crate) fn start_secure(args: &[&str]) -> Self {
        let mut command = Command::new(PROGRAM);
        command.args(args);
        Self::run(command)
    }

    /// Starts the program with two threads, so that the memory that the allocator keeps for each thread does not depend
    /// on the machine.
    #[cfg(target_os = "linux")]
    pub(crate) fn start_with_two_threads(args: &[&str]) -> Self {
        let mut command = command(args);
        command.env("TOKIO_WORKER_THREADS", "2");
        Self::run(command)
    }

    /// Starts the program with a limit of the file size. Writes beyond it fail instead of killing the program.
    pub(crate) fn start_with_file_size_limit(blocks: u32, args: &[&str]) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\""), "sh", PROGRAM]);
        shell.args(INSECURE).args(args);
        Self::run(shell)
    }

    fn run(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("://").nth(1).and_then(|rest| rest.split([',', '\n']).next());
        let address = address.unwrap_or_else(|| panic!("no address in {line:?}")).to_owned();
        Self { child, address }
    }

    /// Kills the program, as a power failure does.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Requests a graceful shutdown.
    pub(crate) fn terminate(&self) {
        let status = Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        assert!(status.success());
    }

    pub(crate) fn wait(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// Returns the resident memory in bytes.
    #[cfg(target_os = "linux")]
    pub(crate) fn resident_memory(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let kibibytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
        kibibytes.unwrap().parse::<usize>().unwrap() << 10
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn get(&self, path: &str, headers: &str) -> Answer {
        send(&self.address, "GET", path, headers, b"").unwrap()
    }

    pub(crate) fn post(&self, path: &str, body: &[u8]) -> Answer {
        send(&self.address, "POST", path, "Content-Type: application/json\r\n", body).unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns the command that starts the program on a free port, without TLS and authentication.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(INSECURE).args(args);
    command
}

/// Returns the names of the ConfigMaps in the namespace `default`.
pub(crate) fn names(program: &Program) -> BTreeSet<String> {
    let list = program.get("/api/v1/namespaces/default/configmaps", "").json();
    let items = list["items"].as_array().unwrap().iter();
    items.map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

/// A response.
pub(crate) struct Answer {
    pub(crate) code: u16,
    /// The status line and the headers, in lower case.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        value.unwrap_or_default()
    }

    pub(crate) fn text(&self) -> &str {
        str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// Sends a request on a dedicated connection and reads the response.
pub(crate) fn send(address: &str, method: &str, path: &str, headers: &str, body: &[u8]) -> io::Result<Answer> {
    receive(open(address, method, path, headers, body)?)
}

/// Reads the only response of a connection.
pub(crate) fn receive(mut stream: TcpStream) -> io::Result<Answer> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
    let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
    let code = head.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or(io::ErrorKind::InvalidData)?;
    Ok(Answer { code, head, body: bytes.split_off(end + 4) })
}

/// Sends a request and returns the connection to read the response from.
pub(crate) fn open(address: &str, method: &str, path: &str, headers: &str, body: &[u8]) -> io::Result<TcpStream> {
    let mut stream = connect(address)?;
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
    );
    stream.write_all(head.as_bytes())?;
    // The server may reject the request before it reads the body.
    drop(stream.write_all(body));
    Ok(stream)
}

/// Opens a connection. Reads fail after a minute.
pub(crate) fn connect(address: &str) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    Ok(stream)
}
