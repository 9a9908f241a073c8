//! A server in the process of a program, for its development: kubectl of the same user can reach it.

use std::{
    env, fs, io,
    net::{Ipv4Addr, SocketAddr, TcpListener as StdListener},
    path::{Path, PathBuf},
};

use futures::future::BoxFuture;
use kube::Client;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{Authority, Limits, Tls, TlsError, call_webhooks, serve_tls, write_tls_kubeconfig};
use crate::{authentication::options::Authentication, handlers::load::LoadError, server::api_server::ApiServer};

/// The environment variable with the path of the kubeconfig, and its default.
const PATH: (&str, &str) = ("KUBEWRIGHT_KUBECONFIG", "kubeconfig");

/// The reason why an embedded server was not started.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// A CRD is invalid.
    #[error(transparent)]
    Definitions(#[from] LoadError),
    /// The certificates cannot be issued.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// There is no port.
    #[error("cannot listen on a loopback address: {0}")]
    Listen(#[from] io::Error),
    /// The kubeconfig cannot be written.
    #[error("cannot write the kubeconfig `{}`: {source}; set `KUBEWRIGHT_KUBECONFIG` to another path", path.display())]
    Kubeconfig {
        /// Its path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// Serves an embedded server until the token is cancelled, and then removes its kubeconfig.
pub type Serve = Box<dyn FnOnce(CancellationToken) -> BoxFuture<'static, io::Result<()>> + Send>;

/// Creates a server with these CRDs, which are YAML documents, on a free port of the loopback address. Returns a client
/// of it, and the function that serves it.
///
/// It writes a kubeconfig with the credentials of an administrator, which only its owner can read, to the path in
/// `KUBEWRIGHT_KUBECONFIG`, or to `kubeconfig` in the current directory. Requests without credentials are rejected.
///
/// # Errors
/// Fails if a CRD is invalid, there is no free port, or the kubeconfig cannot be written.
pub fn embedded(definitions: &str) -> Result<(Client, Serve), EmbeddedError> {
    let server = ApiServer::builder().authentication(Authentication::new().anonymous(false)).build();
    server.load_yaml(definitions)?;
    call_webhooks(&server);
    let listener = StdListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let path = PathBuf::from(env::var_os(PATH.0).unwrap_or_else(|| PATH.1.into()));
    let tls = tls(&path, address)?;
    tracing::info!("the API server listens on https://{address}: kubectl --kubeconfig {} get all", path.display());
    let client = server.as_administrator().client();
    let serve = move |stop: CancellationToken| -> BoxFuture<'static, io::Result<()>> {
        Box::pin(async move {
            let listener = TcpListener::from_std(listener)?;
            serve_tls(server, listener, tls, Limits::default(), stop.cancelled_owned()).await;
            fs::remove_file(path)
        })
    };
    Ok((client, Box::new(serve)))
}

/// Issues the certificates of the server and of its administrator, and writes the kubeconfig.
fn tls(path: &Path, address: SocketAddr) -> Result<Tls, EmbeddedError> {
    let authority = Authority::generate()?;
    let serving = authority.serving([address.ip().to_string()])?;
    let tls = Tls::new(&serving, &[authority.certificate()])?;
    let administrator = authority.client("admin", "system:masters")?;
    let written = write_tls_kubeconfig(path, address, authority.certificate(), &administrator);
    written.map_err(|source| EmbeddedError::Kubeconfig { path: path.to_owned(), source })?;
    Ok(tls)
}
