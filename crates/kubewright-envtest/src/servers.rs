//! The command lines of the servers, and the ports they listen on.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::Path,
    process::Command,
};

use crate::{
    assets::Assets,
    credentials::Credentials,
    error::{Error, Result},
};

/// The issuer of the tokens of service accounts, and their default audience.
pub const SERVICE_ACCOUNT_ISSUER: &str = "https://kubernetes.default.svc";

/// The ports of a control plane on the loopback interface.
#[derive(Debug, Clone, Copy)]
pub struct Ports {
    /// The port of etcd for clients.
    pub etcd_client: u16,
    /// The port of etcd for peers.
    pub etcd_peer: u16,
    /// The port of kube-apiserver.
    pub api_server: u16,
}

impl Ports {
    /// Returns three free ports. Another program can take one before it is used.
    pub fn free() -> Result<Ports> {
        let [etcd_client, etcd_peer, api_server] = free_ports()?;
        Ok(Ports { etcd_client, etcd_peer, api_server })
    }
}

/// Returns an address of the loopback interface.
pub fn loopback(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

/// Returns the command of etcd with its data in `<dir>/etcd`, which etcd creates.
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
        // The data need not survive the process.
        "--unsafe-no-fsync".to_owned(),
    ]);
    command
}

/// Returns the command of kube-apiserver with RBAC and the token of the administrator.
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
        flag("service-account-issuer", SERVICE_ACCOUNT_ISSUER),
        flag("service-account-signing-key-file", credentials.service_account_key.display()),
        flag("service-account-key-file", credentials.service_account_public_key.display()),
        // No controller creates the service account that this plugin requires for every pod.
        flag("disable-admission-plugins", "ServiceAccount"),
        // The endpoint reconciler rejects a loopback address, and a machine without a network has no other one.
        flag("advertise-address", Ipv4Addr::LOCALHOST),
        flag("endpoint-reconciler-type", "none"),
        // Otherwise an open watch delays the shutdown by a minute.
        flag("shutdown-watch-termination-grace-period", "1s"),
    ]);
    command
}

/// Returns a flag with its value.
pub fn flag(name: &str, value: impl std::fmt::Display) -> String {
    format!("--{name}={value}")
}

/// Returns free ports, which differ. Another program can take one before it is used.
pub fn free_ports<const N: usize>() -> Result<[u16; N]> {
    // All listeners exist at the same time, so that the ports differ.
    let mut listeners = Vec::with_capacity(N);
    let mut ports = [0; N];
    for port in &mut ports {
        let listener = TcpListener::bind(loopback(0))
            .map_err(|error| Error::from_io("no free port on the loopback interface", error))?;
        let address = listener.local_addr().map_err(|error| Error::from_io("cannot determine the port", error))?;
        *port = address.port();
        listeners.push(listener);
    }
    Ok(ports)
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
