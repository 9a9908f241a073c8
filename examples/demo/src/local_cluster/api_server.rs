//! The API server on a socket, with its objects on disk.

use std::{net::SocketAddr, path::Path, time::Duration};

use kubewright_apiserver::{
    ApiServer, DataDirError, Safety,
    serve::{self, Limits},
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

/// Starts the server, which converts Loggers by the function of the operator in place of its webhook. Waits at most for
/// this time for another server that uses the directory. Returns its address.
pub(super) async fn start(
    data: &Path,
    address: SocketAddr,
    wait: Duration,
) -> Result<(SocketAddr, Task<()>), LocalClusterError> {
    let server = open(data, wait).await?;
    server.convert(LOGGER, webhooks::convert());
    let failed = |source| LocalClusterError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((address, Task::spawn(|stop| serve::serve(server, listener, Limits::default(), stop.cancelled_owned()))))
}

async fn open(data: &Path, wait: Duration) -> Result<ApiServer, DataDirError> {
    let deadline = Instant::now() + wait;
    loop {
        match ApiServer::builder().build_on(data, Safety::Synced) {
            Ok(server) => return Ok(server),
            Err(error) if Instant::now() >= deadline => return Err(error),
            Err(_) => sleep(RETRY_INTERVAL).await,
        }
    }
}
