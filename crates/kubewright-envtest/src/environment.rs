//! The control plane of an asynchronous test, with a client.

use anyhow::{Context, Result};
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use tokio::task::spawn_blocking;

use crate::{
    assets::{ASSETS_VARIABLE, Assets},
    control_plane::ControlPlane,
};

/// A control plane of a test and a client of it: `envtest.Environment` of controller-runtime.
///
/// Dropping it stops the control plane, which blocks the thread for about a second.
///
/// ```no_run
/// # async fn test() -> anyhow::Result<()> {
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
        let assets = Assets::from_env()?.with_context(|| {
            format!("{ASSETS_VARIABLE} is not set to a directory with etcd, kube-apiserver and kubectl")
        })?;
        let control_plane = spawn_blocking(move || ControlPlane::start(&assets)).await??;
        let kubeconfig = Kubeconfig::read_from(control_plane.kubeconfig())?;
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        Ok(Self { client: Client::try_from(config)?, control_plane })
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
