//! The kubeconfig of a server.

use std::{fs, io, net::SocketAddr, path::Path};

use serde_json::json;

/// Writes a kubeconfig for the server at an address. The write is atomic.
///
/// # Errors
/// The file cannot be written.
pub fn write_kubeconfig(path: &Path, server: SocketAddr) -> io::Result<()> {
    const NAME: &str = "logger-apiserver";
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": NAME, "cluster": { "server": format!("http://{server}") } }],
        "users": [{ "name": NAME, "user": {} }],
        "contexts": [{ "name": NAME, "context": { "cluster": NAME, "user": NAME } }],
        "current-context": NAME,
    });
    // JSON is a subset of YAML.
    let text = format!("{config:#}\n");
    let mut staged = path.as_os_str().to_owned();
    staged.push(format!(".{}", std::process::id()));
    fs::write(&staged, text)?;
    fs::rename(&staged, path).inspect_err(|_| drop(fs::remove_file(&staged)))
}
