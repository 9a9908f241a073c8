//! The API server on a socket, with its objects on disk. It serves the owner of its kubeconfig only: the nodes run the
//! commands of Pods as processes of the user.

use std::{net::SocketAddr, path::Path, time::Duration};

use kubewright_apiserver::{
    ApiServer, Authentication, DataDirError, Safety,
    serve::{self, Authority, Limits, Tls},
};
use kubewright_runtime::kube::{
    Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use logger_operator::webhooks;
use tokio::{
    net::TcpListener,
    time::{Instant, sleep},
};

use super::{LocalClusterError, task::Task};

/// The kind that is converted.
const LOGGER: &str = "Logger.example.com";
/// The interval between two tries to open the data directory.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// Listens on an address, and returns the one with the port.
pub(super) async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), LocalClusterError> {
    let failed = |source| LocalClusterError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}

/// Issues the certificates of the server and of its administrator, and writes the kubeconfig of the administrator.
pub(super) fn issue(kubeconfig: &Path, address: SocketAddr) -> Result<Tls, LocalClusterError> {
    let authority = Authority::generate()?;
    let administrator = authority.client("admin", "system:masters")?;
    serve::write_tls_kubeconfig(kubeconfig, address, authority.certificate(), &administrator)
        .map_err(|source| LocalClusterError::Directory { path: kubeconfig.to_owned(), source })?;
    Ok(Tls::new(&authority.serving([address.ip().to_string()])?, &[authority.certificate()])?)
}

/// Returns the configuration of the clients of a kubeconfig. It does not use the environment, such as proxies.
pub(super) async fn client_config(kubeconfig: &Path) -> Result<Config, LocalClusterError> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    config.proxy_url = None;
    Ok(config)
}

/// Creates the server on its data directory. It converts Loggers by the function of the operator in place of its
/// webhook. Waits at most for this time for another server that uses the directory.
pub(super) async fn open(data: &Path, wait: Duration) -> Result<ApiServer, DataDirError> {
    let deadline = Instant::now() + wait;
    loop {
        let builder = ApiServer::builder().authentication(Authentication::new().anonymous(false));
        match builder.build_on(data, Safety::Synced) {
            Ok(server) => {
                server.convert(LOGGER, webhooks::convert());
                return Ok(server);
            }
            Err(error) if Instant::now() >= deadline => return Err(error),
            Err(_) => sleep(RETRY_INTERVAL).await,
        }
    }
}

/// Serves HTTPS until the task is stopped.
pub(super) fn serve(server: ApiServer, listener: TcpListener, tls: Tls) -> Task<()> {
    Task::spawn(|stop| serve::serve_tls(server, listener, tls, Limits::default(), stop.cancelled_owned()))
}
