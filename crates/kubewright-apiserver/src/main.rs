//! The in-memory API server as a program: listens on a TCP socket, with TLS and authentication unless disabled, and
//! optionally persists objects in a data directory.

use std::{
    fs,
    io::{self, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::Context;
use clap::{ArgAction, Parser, ValueEnum};
use kubewright_apiserver::{
    ApiServer, Authentication, Builder, Safety,
    serve::{self, Authority, Limits, PemPair, Tls},
};
use tikv_jemallocator::Jemalloc;
use tokio::{net::TcpListener, sync::watch};

/// Gives the memory of discarded history back to the system.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// In-memory Kubernetes API server for kubectl and other clients
///
/// Clients authenticate with client certificates, such as the administrator's in the written kubeconfig, or with bearer
/// tokens, such as the tokens of service accounts. SIGINT and SIGTERM stop it.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Address to listen on. Any address except a loopback one exposes the server to the network
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    address: IpAddr,
    /// Port to listen on; 0 selects a free port. 6443 by default, or 8080 with --insecure
    #[arg(long)]
    port: Option<u16>,
    /// File to write a kubeconfig to, once the server listens. Except with --insecure, it has the credentials of an
    /// administrator
    #[arg(long, value_name = "FILE")]
    write_kubeconfig: Option<PathBuf>,
    /// Serve HTTP without TLS and authentication: every client is an administrator, who may do anything and impersonate
    /// other users
    #[arg(long)]
    insecure: bool,
    /// Certificate of the server as PEM, with those of its issuers, which the written kubeconfig trusts. By default the
    /// server issues one
    #[arg(long, value_name = "FILE", requires = "tls_private_key_file", conflicts_with = "insecure")]
    tls_cert_file: Option<PathBuf>,
    /// Private key of --tls-cert-file
    #[arg(long, value_name = "FILE", requires = "tls_cert_file")]
    tls_private_key_file: Option<PathBuf>,
    /// Authorities of client certificates as PEM, in addition to that of the server
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    client_ca_file: Option<PathBuf>,
    /// Bearer tokens and their users: lines of `token,user,uid,"group1,group2"`
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    token_auth_file: Option<PathBuf>,
    /// Whether requests without credentials are those of the user `system:anonymous`. They are always rejected with
    /// --authorization-mode AlwaysAllow
    #[arg(long, value_name = "BOOL", default_value_t = true, action = ArgAction::Set)]
    anonymous_auth: bool,
    /// Issuer of the tokens of service accounts, and their default audience
    #[arg(long, value_name = "URL", default_value = "https://kubernetes.default.svc.cluster.local")]
    service_account_issuer: String,
    /// Directory to persist objects and private keys in. Without it, they are lost when the server stops
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
    /// Run no garbage collector, no namespace controller and no aggregation of cluster roles, like kube-apiserver
    /// without kube-controller-manager
    #[arg(long)]
    no_garbage_collection: bool,
    /// Whether users may do anything, or what roles and bindings allow
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
    let authority = if args.insecure { None } else { Some(authority(args)?) };
    let builder = builder(args)?;
    let safety = if args.no_fsync { Safety::Relaxed } else { Safety::Synced };
    let server = match &args.data_dir {
        Some(path) => builder.build_on(path, safety)?,
        None => builder.build(),
    };
    serve::call_webhooks(&server);
    let port = args.port.unwrap_or(if args.insecure { 8080 } else { 6443 });
    let address = SocketAddr::new(args.address, port);
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen on {address}; use `--port 0` for a free port"))?;
    let address = listener.local_addr()?;
    let stop = async move {
        // The signal handler owns the sender and is never dropped.
        let _ = stopped.wait_for(|stopped| *stopped).await;
    };
    match authority {
        Some(authority) => {
            let tls = tls(args, &authority, address)?;
            print_address(args, address);
            serve::serve_tls(server, listener, tls, limits(args), stop).await;
        }
        None => {
            if let Some(path) = &args.write_kubeconfig {
                serve::write_kubeconfig(path, address).with_context(|| format!("cannot write {}", path.display()))?;
            }
            print_address(args, address);
            serve::serve(server, listener, limits(args), stop).await;
        }
    }
    Ok(())
}

fn builder(args: &Args) -> anyhow::Result<Builder> {
    let mut builder = ApiServer::builder()
        .history(args.history)
        .collects_garbage(!args.no_garbage_collection)
        .rbac(args.authorization_mode == AuthorizationMode::Rbac)
        .service_account_issuer(&args.service_account_issuer);
    if let Some(bytes) = args.history_bytes {
        builder = builder.history_bytes(bytes);
    }
    if let Some(directory) = keys_directory(args) {
        builder = builder.service_account_key(serve::open_service_account_key(&directory)?);
    }
    if args.insecure {
        return Ok(builder);
    }
    let mut authentication = Authentication::new().anonymous(args.anonymous_auth);
    if let Some(path) = &args.token_auth_file {
        let invalid = || format!("invalid token file `{}`", path.display());
        authentication = authentication.tokens_csv(&read(path)?).with_context(invalid)?;
    }
    Ok(builder.authentication(authentication))
}

/// Returns the directory of the private keys, if they are persisted.
fn keys_directory(args: &Args) -> Option<PathBuf> {
    args.data_dir.as_ref().map(|directory| directory.join("pki"))
}

/// Returns the authority of the certificates.
fn authority(args: &Args) -> anyhow::Result<Authority> {
    Ok(match keys_directory(args) {
        Some(directory) => Authority::open(&directory)?,
        None => Authority::generate()?,
    })
}

/// Returns the TLS of the server at an address, and writes the kubeconfig of an administrator.
fn tls(args: &Args, authority: &Authority, address: SocketAddr) -> anyhow::Result<Tls> {
    let (serving, trusted) = match (&args.tls_cert_file, &args.tls_private_key_file) {
        (Some(certificate), Some(key)) => {
            let serving = PemPair::read(certificate, key)?;
            (serving.clone(), serving.certificate)
        }
        _ => (authority.serving([address.ip().to_string()])?, authority.certificate().to_owned()),
    };
    let clients = args.client_ca_file.as_deref().map(read).transpose()?;
    let clients: Vec<&str> = std::iter::once(authority.certificate()).chain(clients.as_deref()).collect();
    let tls = Tls::new(&serving, &clients)?;
    if let Some(path) = &args.write_kubeconfig {
        let administrator = authority.client("admin", "system:masters")?;
        serve::write_tls_kubeconfig(path, address, &trusted, &administrator)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(tls)
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
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
fn print_address(args: &Args, address: SocketAddr) {
    let mut message = if args.insecure {
        format!("serving on http://{address}, without TLS or authentication: every client is an administrator\n")
    } else {
        format!("serving on https://{address}\n")
    };
    message += &match (&args.write_kubeconfig, args.insecure) {
        (Some(path), _) => format!("export KUBECONFIG={}\n", path.display()),
        (None, true) => String::new(),
        (None, false) => "use `--write-kubeconfig FILE` for the credentials of an administrator\n".to_owned(),
    };
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
