//! The resident memory of operators without objects, on one API server.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result};
use serde_json::Value;
use tokio::runtime::Runtime;

use super::{
    Options,
    builder::{self, Builder},
};
use crate::{
    apiserver::servers::Server,
    files,
    operator::{
        Figures,
        programs::{KUBE, Peer, build_go},
    },
    paths,
    process::Process,
    program,
};

/// The package of our operator.
const OPERATOR: &str = "logger-operator";
/// The Deployment of our operator, which has its arguments.
const DEPLOYMENT: &str = "config/manager/manager.yaml";
/// An address with a free port, where no client requests the metrics.
const ANY_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// How long a health check may take.
const TIMEOUT: Duration = Duration::from_secs(1);
const REQUEST: &[u8] = b"GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
/// The start of a response to a successful health check.
const SUCCESS: &[u8; 12] = b"HTTP/1.1 200";

/// Starts each program on the same API server, alone and without objects, and measures its memory. Returns the figures
/// and the title of the server.
pub(super) fn measure(options: &Options, builder: &Builder<'_>) -> Result<(Figures, &'static str)> {
    let programs = programs(options, builder)?;
    let server = Server::available()?;
    let running = server.start()?;
    let kubeconfig = running.kubeconfig().context("the API server has no kubeconfig")?;
    let idle = Duration::from_secs(options.idle);
    let runtime = Runtime::new()?;
    let mut figures = Figures::default();
    define(&programs[0].1, kubeconfig)?;
    for round in 1..=options.rounds {
        for (peer, path) in &programs {
            eprintln!("round {round} of {}: {}", options.rounds, peer.title());
            let measured = runtime.block_on(memory(*peer, path, kubeconfig, idle));
            figures.extend(*peer, measured.with_context(|| format!("cannot measure {}", peer.title()))?);
        }
    }
    for (peer, path) in &programs {
        figures.extend(*peer, vec![("program_mb", files::size(path)?)]);
    }
    Ok((figures, server.title()))
}

/// Compiles the programs; that on kube-runtime with the options of the images. Ours is the first.
fn programs(options: &Options, builder: &Builder<'_>) -> Result<Vec<(Peer, PathBuf)>> {
    let mut programs = vec![(Peer::Ours, builder.build(OPERATOR)?)];
    if !options.without_peers {
        eprintln!("building the operators of the comparison");
        programs.extend([(Peer::Kube, builder.build(KUBE)?), (Peer::Go, build_go()?)]);
    }
    Ok(programs)
}

/// Applies the definition of Loggers and waits until it is established.
fn define(operator: &Path, kubeconfig: &Path) -> Result<()> {
    let mut command = Command::new(operator);
    command.args(["crds", "apply"]).env("KUBECONFIG", kubeconfig);
    program::output(&mut command).map(drop).context("cannot apply the definition of Loggers")
}

/// Returns the memory of a program after an idle time, and its maximum since the start.
async fn memory(peer: Peer, path: &Path, kubeconfig: &Path, idle: Duration) -> Result<Vec<(&'static str, f64)>> {
    let log = builder::directory().join(format!("{}.log", peer.title()));
    let mut command = Command::new(path);
    command.env("KUBECONFIG", kubeconfig);
    let mut process = match peer {
        Peer::Ours => start(command, &log)?,
        // Without leader election, as `bench operator` starts them.
        Peer::Go | Peer::Kube => Process::start(command, &log, peer.has_garbage_collector())?.0,
    };
    let idle = process.memory_after(idle).await?;
    process.check()?;
    let peak = process.peak_memory();
    process.stop()?;
    Ok(vec![("idle_mb", idle), ("peak_mb", peak)])
}

/// Starts our operator with the arguments of its Deployment, and waits until it is ready.
fn start(mut command: Command, log: &Path) -> Result<Process> {
    let path = paths::workspace_root().join(DEPLOYMENT);
    let args = arguments(&files::read(&path)?).with_context(|| format!("cannot use {}", path.display()))?;
    // The port is free until the operator listens on it.
    let health = TcpListener::bind(ANY_PORT).and_then(|listener| listener.local_addr());
    let health = health.context("no port is free on the loopback interface")?;
    command.args(args);
    command.arg(format!("--health-probe-bind-address={health}"));
    command.arg(format!("--metrics-bind-address={ANY_PORT}"));
    Process::start_until(command, log, || is_ready(health).is_ok_and(|is_ready| is_ready))
}

/// Returns the arguments of the first container of a Deployment.
fn arguments(deployment: &str) -> Result<Vec<String>> {
    let deployment: Value = serde_saphyr::from_str(deployment)?;
    let args = deployment.pointer("/spec/template/spec/containers/0/args").cloned();
    serde_json::from_value(args.context("the first container has no `args`")?).context("`args` is no list of strings")
}

/// Returns whether the readiness check succeeds.
fn is_ready(address: SocketAddr) -> io::Result<bool> {
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.write_all(REQUEST)?;
    let mut start = [0; SUCCESS.len()];
    stream.read_exact(&mut start)?;
    Ok(start == *SUCCESS)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn the_operator_has_the_arguments_of_its_deployment() {
        let args = arguments(include_str!("../../../../config/manager/manager.yaml")).unwrap();
        assert_eq!(args[0], "run");
        assert!(args.contains(&"--leader-elect".to_owned()), "{args:?}");
        let error = arguments("spec: {}\n").unwrap_err().to_string();
        assert_eq!(error, "the first container has no `args`");
    }

    #[test]
    fn an_operator_is_ready_when_its_check_succeeds() {
        let listener = TcpListener::bind(ANY_PORT).unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            for response in ["HTTP/1.1 500 Internal Server Error\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1"] {
                let (mut stream, _) = listener.accept().unwrap();
                stream.read_exact(&mut vec![0; REQUEST.len()]).unwrap();
                stream.write_all(response.as_bytes()).unwrap();
            }
        });
        assert!(!is_ready(address).unwrap());
        assert!(is_ready(address).unwrap());
        assert!(is_ready(address).is_err(), "the response is truncated");
        server.join().unwrap();
        assert!(is_ready(address).is_err(), "no server listens");
    }
}
