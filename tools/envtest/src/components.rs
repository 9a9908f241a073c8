//! The command lines of the components beside a control plane, and the ports they listen on.

use std::{net::Ipv4Addr, path::Path, process::Command};

use kubewright_envtest::{
    Error,
    internals::{Credentials, flag, free_ports, loopback},
};

use crate::assets::ComponentAssets;

/// How long kwok holds the lease of a node, in seconds. It renews a lease after a quarter of this time.
const LEASE_SECONDS: u32 = 8;

/// The ports of the components on the loopback interface.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ComponentPorts {
    pub(crate) controller_manager: u16,
    pub(crate) scheduler: u16,
    pub(crate) kwok: u16,
}

impl ComponentPorts {
    /// Returns three free ports. Another program can take one before it is used.
    pub(crate) fn free() -> Result<ComponentPorts, Error> {
        let [controller_manager, scheduler, kwok] = free_ports()?;
        Ok(ComponentPorts { controller_manager, scheduler, kwok })
    }
}

/// Returns the command of kube-controller-manager, which reacts to lost nodes within seconds.
pub(crate) fn kube_controller_manager(
    assets: &ComponentAssets,
    kubeconfig: &Path,
    port: u16,
    credentials: &Credentials,
) -> Command {
    let mut command = Command::new(assets.kube_controller_manager());
    command.args(component(kubeconfig, port, credentials)).args([
        flag("service-account-private-key-file", credentials.service_account_key.display()),
        flag("root-ca-file", credentials.authority_certificate.display()),
        // A busy machine can delay heartbeats by several intervals.
        flag("node-monitor-grace-period", format!("{}s", 2 * LEASE_SECONDS)),
        flag("node-monitor-period", "1s"),
        // Nodes per second and zone, whose pods are evicted.
        flag("node-eviction-rate", 10),
    ]);
    command
}

/// Returns the command of kube-scheduler.
pub(crate) fn kube_scheduler(
    assets: &ComponentAssets,
    kubeconfig: &Path,
    port: u16,
    credentials: &Credentials,
) -> Command {
    let mut command = Command::new(assets.kube_scheduler());
    command.args(component(kubeconfig, port, credentials));
    command
}

/// Returns the flags of a component that serves its health on this port with the certificate of the API server.
fn component(kubeconfig: &Path, port: u16, credentials: &Credentials) -> [String; 8] {
    [
        flag("kubeconfig", kubeconfig.display()),
        flag("bind-address", Ipv4Addr::LOCALHOST),
        flag("secure-port", port),
        flag("tls-cert-file", credentials.server_certificate.display()),
        flag("tls-private-key-file", credentials.server_key.display()),
        flag("leader-elect", false),
        // The limit of production clusters delays tests.
        flag("kube-api-qps", 500),
        flag("kube-api-burst", 1000),
    ]
}

/// Returns the command of kwok, which runs all nodes with these stages.
pub(crate) fn kwok(assets: &ComponentAssets, kubeconfig: &Path, port: u16, stages: &Path) -> Command {
    let mut command = Command::new(assets.kwok());
    command.args([
        flag("kubeconfig", kubeconfig.display()),
        flag("config", stages.display()),
        flag("manage-all-nodes", true),
        flag("node-lease-duration-seconds", LEASE_SECONDS),
        flag("node-ip", Ipv4Addr::LOCALHOST),
        flag("server-address", loopback(port)),
    ]);
    command
}
