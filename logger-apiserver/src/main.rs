//! The in-memory API server as a program: on a socket, and with a data directory if one is given.

use std::{
    io::{self, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use clap::Parser;
use logger_apiserver::{ApiServer, Safety, serve};
use tokio::{net::TcpListener, sync::watch};

/// A Kubernetes API server in memory, for real kubectl
///
/// It speaks HTTP without TLS and lets everybody do everything. It ends on SIGINT and SIGTERM.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Where to listen. On any but a loopback address, others reach it
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    address: IpAddr,
    /// The port; 0 takes one that is free
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Where to write a kubeconfig, once the server listens
    #[arg(long, value_name = "FILE")]
    write_kubeconfig: Option<PathBuf>,
    /// Where to keep the objects. Without it they end with the server
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// ApiResponse writes before they are on disk: if the server is killed, the latest are lost
    #[arg(long, requires = "data_dir")]
    no_fsync: bool,
    /// How many changes watches can go back
    #[arg(long, default_value_t = 1024)]
    history: usize,
    /// Run no garbage collector and no namespace controller, like kube-apiserver without kube-controller-manager
    #[arg(long)]
    no_garbage_collection: bool,
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
    let builder = ApiServer::builder().history(args.history).collects_garbage(!args.no_garbage_collection);
    let safety = if args.no_fsync { Safety::Relaxed } else { Safety::Synced };
    let server = match &args.data_dir {
        Some(path) => builder.build_on(path, safety)?,
        None => builder.build(),
    };
    let address = SocketAddr::new(args.address, args.port);
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen on {address}; --port 0 takes a port that is free"))?;
    let address = listener.local_addr()?;
    if let Some(path) = &args.write_kubeconfig {
        serve::write_kubeconfig(path, address).with_context(|| format!("cannot write {}", path.display()))?;
    }
    tell(address, args.write_kubeconfig.as_deref());
    serve::serve(server, listener, async move {
        // The sender is the handler of signals, which stays.
        let _ = stopped.wait_for(|stopped| *stopped).await;
    })
    .await;
    Ok(())
}

/// Says where it serves. Whoever started it may have no ear for it, which is no reason to end.
fn tell(address: SocketAddr, kubeconfig: Option<&Path>) {
    let mut said = format!("serving on http://{address}, without TLS: whoever reaches it may do anything\n");
    if let Some(path) = kubeconfig {
        said += &format!("export KUBECONFIG={}\n", path.display());
    }
    let _ = io::stdout().write_all(said.as_bytes());
}

/// Returns a receiver that becomes true on SIGINT or SIGTERM.
fn stopped() -> anyhow::Result<watch::Receiver<bool>> {
    let (stop, stopped) = watch::channel(false);
    let stop = move || {
        stop.send_replace(true);
    };
    ctrlc::set_handler(stop).context("signals cannot be handled")?;
    Ok(stopped)
}
