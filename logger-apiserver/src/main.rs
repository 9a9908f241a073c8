//! The in-memory API server as a program: listens on a TCP socket, and optionally persists objects in a data directory.

use std::{
    io::{self, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::Context;
use clap::{Parser, ValueEnum};
use logger_apiserver::{
    ApiServer, Safety,
    serve::{self, Limits},
};
use tokio::{net::TcpListener, sync::watch};

/// In-memory Kubernetes API server for kubectl and other clients
///
/// It serves HTTP without TLS and authentication: every client is an administrator, who may do anything and impersonate
/// other users. SIGINT and SIGTERM stop it.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Address to listen on. Any address except a loopback one exposes the server to the network
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    address: IpAddr,
    /// Port to listen on; 0 selects a free port
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// File to write a kubeconfig to, once the server listens
    #[arg(long, value_name = "FILE")]
    write_kubeconfig: Option<PathBuf>,
    /// Directory to persist objects in. Without it, objects are lost when the server stops
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Acknowledge writes before they are on disk: if the server is killed, the latest writes are lost
    #[arg(long, requires = "data_dir")]
    no_fsync: bool,
    /// Number of changes in the history that watches can start from
    #[arg(long, default_value_t = 1024)]
    history: usize,
    /// Memory of the history in bytes; 128 MiB by default
    #[arg(long, value_name = "BYTES")]
    history_bytes: Option<usize>,
    /// Maximum number of reads in flight; 0 disables the limit
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_requests_in_flight)]
    max_requests_inflight: usize,
    /// Maximum number of other requests in flight; 0 disables the limit
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_mutating_requests_in_flight)]
    max_mutating_requests_inflight: usize,
    /// Time to receive the body of a request, and time to write its response
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().request_timeout.as_secs())]
    request_timeout: u64,
    /// Run no garbage collector, no namespace controller and no aggregation of cluster roles, like kube-apiserver without
    /// kube-controller-manager
    #[arg(long)]
    no_garbage_collection: bool,
    /// Whether impersonated users may do anything, or what roles and bindings allow
    #[arg(long, value_enum, value_name = "MODE", default_value_t = AuthorizationMode::AlwaysAllow)]
    authorization_mode: AuthorizationMode,
}

/// How requests are authorized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AuthorizationMode {
    /// Every user may do anything
    #[value(name = "AlwaysAllow")]
    AlwaysAllow,
    /// Roles and bindings allow requests
    #[value(name = "RBAC")]
    Rbac,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[tokio::main]
async fn run(args: &Args) -> anyhow::Result<()> {
    let mut stopped = stopped()?;
    let mut builder = ApiServer::builder()
        .history(args.history)
        .collects_garbage(!args.no_garbage_collection)
        .rbac(args.authorization_mode == AuthorizationMode::Rbac);
    if let Some(bytes) = args.history_bytes {
        builder = builder.history_bytes(bytes);
    }
    let safety = if args.no_fsync { Safety::Relaxed } else { Safety::Synced };
    let server = match &args.data_dir {
        Some(path) => builder.build_on(path, safety)?,
        None => builder.build(),
    };
    let address = SocketAddr::new(args.address, args.port);
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen on {address}; use `--port 0` for a free port"))?;
    let address = listener.local_addr()?;
    if let Some(path) = &args.write_kubeconfig {
        serve::write_kubeconfig(path, address).with_context(|| format!("cannot write {}", path.display()))?;
    }
    print_address(address, args.write_kubeconfig.as_deref());
    let stop = async move {
        // The signal handler owns the sender and is never dropped.
        let _ = stopped.wait_for(|stopped| *stopped).await;
    };
    serve::serve(server, listener, limits(args), stop).await;
    Ok(())
}

fn limits(args: &Args) -> Limits {
    Limits {
        max_requests_in_flight: args.max_requests_inflight,
        max_mutating_requests_in_flight: args.max_mutating_requests_inflight,
        request_timeout: Duration::from_secs(args.request_timeout),
        ..Limits::default()
    }
}

/// Prints the address of the server. A closed stdout is not an error.
fn print_address(address: SocketAddr, kubeconfig: Option<&Path>) {
    let mut message =
        format!("serving on http://{address}, without TLS or authentication: every client is an administrator\n");
    if let Some(path) = kubeconfig {
        message += &format!("export KUBECONFIG={}\n", path.display());
    }
    let _ = io::stdout().write_all(message.as_bytes());
}

/// Returns a receiver that becomes true on SIGINT or SIGTERM.
fn stopped() -> anyhow::Result<watch::Receiver<bool>> {
    let (stop, stopped) = watch::channel(false);
    let stop = move || {
        stop.send_replace(true);
    };
    ctrlc::set_handler(stop).context("cannot install the signal handler")?;
    Ok(stopped)
}
