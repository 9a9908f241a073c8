//! The control plane of an asynchronous test, with a client.

use std::{error::Error as StdError, io, path::Path};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use tokio::task::spawn_blocking;

use crate::{
    assets::Assets,
    control_plane::ControlPlane,
    error::{Error, Result},
};

/// A control plane of a test and a client of it: `envtest.Environment` of controller-runtime.
///
/// Dropping it stops the control plane, which blocks the thread for about a second.
///
/// ```no_run
/// # async fn test() -> Result<(), Box<dyn std::error::Error>> {
/// let environment = kubewright_envtest::Environment::start().await?;
/// let version = environment.client().apiserver_version().await?;
/// # Ok(())
/// # }
/// ```
pub struct Environment {
    client: Client,
    control_plane: ControlPlane,
}

impl Environment {
    /// Starts the binaries in the directory of `KUBEBUILDER_ASSETS` on free ports, and waits at most a minute until the
    /// API server is ready.
    ///
    /// # Errors
    /// Fails if the variable is not set or its directory lacks a binary, or if a server does not start.
    pub async fn start() -> Result<Self> {
        let assets = Assets::from_env()?.ok_or(Error::AssetsNotSet)?;
        let start = spawn_blocking(move || ControlPlane::start(&assets)).await.map_err(io::Error::other);
        let control_plane = start.map_err(|error| Error::from_io("cannot start the control plane", error))??;
        let client = client(control_plane.kubeconfig()).await.map_err(Error::Client)?;
        Ok(Self { client, control_plane })
    }

    /// Returns a client with all permissions, in the namespace `default`.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the servers, with kubectl and a kubeconfig for other programs.
    #[must_use]
    pub fn control_plane(&self) -> &ControlPlane {
        &self.control_plane
    }
}

async fn client(kubeconfig: &Path) -> Result<Client, Box<dyn StdError + Send + Sync>> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}
