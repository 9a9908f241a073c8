//! The command lines of etcd and kube-apiserver, and the ports they listen on.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::assets::Assets;
use crate::credentials::Credentials;

/// Ports of the loopback interface.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ports {
    pub(crate) etcd_client: u16,
    pub(crate) etcd_peer: u16,
    pub(crate) api_server: u16,
}

impl Ports {
    /// Three ports nothing listens on. Another program may take one before it is used.
    pub(crate) fn free() -> Result<Ports> {
        // Held together, so that no port is given twice.
        let [client, peer, api] = [listener()?, listener()?, listener()?];
        Ok(Ports { etcd_client: port(&client)?, etcd_peer: port(&peer)?, api_server: port(&api)? })
    }
}

/// An address of the loopback interface.
pub(crate) fn loopback(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

/// etcd with its data in `<dir>/etcd`, which it makes itself.
pub(crate) fn etcd(assets: &Assets, dir: &Path, ports: Ports) -> Command {
    let client = format!("http://{}", loopback(ports.etcd_client));
    let peer = format!("http://{}", loopback(ports.etcd_peer));
    let mut command = Command::new(assets.etcd());
    command.arg(flag("data-dir", dir.join("etcd").display()));
    command.args([
        flag("name", "envtest"),
        flag("listen-client-urls", &client),
        flag("advertise-client-urls", &client),
        flag("listen-peer-urls", &peer),
        flag("initial-advertise-peer-urls", &peer),
        flag("initial-cluster", format!("envtest={peer}")),
        // The data live no longer than the process.
        "--unsafe-no-fsync".to_owned(),
    ]);
    command
}

/// kube-apiserver with RBAC and the admin's token.
pub(crate) fn kube_apiserver(assets: &Assets, dir: &Path, ports: Ports, credentials: &Credentials) -> Command {
    let mut command = Command::new(assets.kube_apiserver());
    command.args([
        flag("bind-address", Ipv4Addr::LOCALHOST),
        flag("secure-port", ports.api_server),
        flag("etcd-servers", format!("http://{}", loopback(ports.etcd_client))),
        flag("cert-dir", dir.display()),
        flag("tls-cert-file", credentials.server_certificate.display()),
        flag("tls-private-key-file", credentials.server_key.display()),
        flag("token-auth-file", credentials.tokens.display()),
        flag("authorization-mode", "RBAC"),
        flag("allow-privileged", true),
        flag("service-cluster-ip-range", "10.0.0.0/24"),
        flag("service-account-issuer", "https://kubernetes.default.svc"),
        flag("service-account-signing-key-file", credentials.service_account_key.display()),
        flag("service-account-key-file", credentials.service_account_public_key.display()),
        // No controller makes the service account this plugin wants every pod to have.
        flag("disable-admission-plugins", "ServiceAccount"),
        // An advertised address must not be a loopback one, so a machine without a network would have none to give.
        flag("advertise-address", Ipv4Addr::LOCALHOST),
        flag("endpoint-reconciler-type", "none"),
        // Without it an open watch holds up the end of the server for a minute.
        flag("shutdown-watch-termination-grace-period", "1s"),
    ]);
    command
}

fn flag(name: &str, value: impl std::fmt::Display) -> String {
    format!("--{name}={value}")
}

fn listener() -> Result<TcpListener> {
    TcpListener::bind(loopback(0)).context("no free port on the loopback interface")
}

fn port(listener: &TcpListener) -> Result<u16> {
    Ok(listener.local_addr().context("cannot tell the port")?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ports_differ() {
        let Ports { etcd_client, etcd_peer, api_server } = Ports::free().unwrap();
        assert!(etcd_client != etcd_peer && etcd_peer != api_server && api_server != etcd_client);
    }
}
