//! The kubeconfig of a server.

use std::{
    fs, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::Path,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::server::serve::{keys, tls::PemPair};

/// The name of the cluster, the user and the context.
const NAME: &str = "kubewright-apiserver";

/// Writes a kubeconfig for the server at an address, without TLS and credentials. The write is atomic.
///
/// # Errors
/// The file cannot be written.
pub fn write_kubeconfig(path: &Path, server: SocketAddr) -> io::Result<()> {
    write(path, &json!({ "server": format!("http://{server}") }), &json!({}))
}

/// Writes a kubeconfig for the server with TLS at an address, with the certificate of its authority and with that of a
/// client. Only the owner of the file can read it. The write is atomic.
///
/// # Errors
/// The file cannot be written.
pub fn write_tls_kubeconfig(path: &Path, server: SocketAddr, authority: &str, client: &PemPair) -> io::Result<()> {
    let data = |pem: &str| BASE64_STANDARD.encode(pem);
    let cluster = json!({
        "server": format!("https://{}", reachable(server)),
        "certificate-authority-data": data(authority),
    });
    let user = json!({
        "client-certificate-data": data(&client.certificate), "client-key-data": data(&client.key),
    });
    write(path, &cluster, &user)
}

/// Returns the address that clients on this host connect to: the loopback address in place of the unspecified one,
/// which no certificate has.
fn reachable(server: SocketAddr) -> SocketAddr {
    let ip = match server.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    SocketAddr::new(ip, server.port())
}

fn write(path: &Path, cluster: &Value, user: &Value) -> io::Result<()> {
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": NAME, "cluster": cluster }],
        "users": [{ "name": NAME, "user": user }],
        "contexts": [{ "name": NAME, "context": { "cluster": NAME, "user": NAME } }],
        "current-context": NAME,
    });
    // JSON is a subset of YAML.
    let text = format!("{config:#}\n");
    let mut staged = path.as_os_str().to_owned();
    staged.push(format!(".{}", std::process::id()));
    keys::write_private(staged.as_ref(), &text)?;
    fs::rename(&staged, path).inspect_err(|_| drop(fs::remove_file(&staged)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_connect_to_an_address_that_certificates_have() {
        let reachable = |address: &str| reachable(address.parse().unwrap()).to_string();
        assert_eq!(reachable("0.0.0.0:1"), "127.0.0.1:1");
        assert_eq!(reachable("[::]:1"), "[::1]:1");
        assert_eq!(reachable("10.0.0.7:1"), "10.0.0.7:1");
    }

    #[test]
    fn credentials_are_readable_by_their_owner_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kubeconfig");
        let client = PemPair { certificate: "certificate".to_owned(), key: "key".to_owned() };
        for _ in 0..2 {
            write_tls_kubeconfig(&path, "127.0.0.1:1".parse().unwrap(), "authority", &client).unwrap();
        }
        let config: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(config["clusters"][0]["cluster"]["server"], "https://127.0.0.1:1");
        assert_eq!(config["users"][0]["user"]["client-key-data"], "a2V5");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}
