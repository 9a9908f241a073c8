//! The cluster of a command.

use std::{env, ffi::OsString, path::PathBuf};

use crate::deploy::{DeployError, Kubeconfig, Kubectl};

/// The environment variable with the paths of the kubeconfig.
pub(super) const KUBECONFIG: &str = "KUBECONFIG";

/// The cluster.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Connection {
    /// The context of the kubeconfig; by default the current one.
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
    /// The kubeconfig; by default that of kubectl.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
}

impl Connection {
    pub(super) fn kubectl(&self) -> Kubectl {
        let mut kubectl = Kubectl::from_env();
        if let Some(path) = &self.kubeconfig {
            kubectl = kubectl.kubeconfig(path);
        }
        if let Some(context) = &self.context {
            kubectl = kubectl.context(context);
        }
        kubectl
    }

    /// Returns the kubeconfig of a program that connects to the same cluster; `None` if it is the default one.
    pub(super) fn kubeconfig(&self) -> Result<Option<Kubeconfig>, DeployError> {
        if self.context.is_some() {
            return Kubeconfig::from_context(&self.kubectl()).map(Some);
        }
        let paths = self.kubeconfig.clone().map(OsString::from).or_else(|| env::var_os(KUBECONFIG));
        paths.map(|paths| Kubeconfig::from_paths(&paths)).transpose().map_err(DeployError::Program)
    }
}
