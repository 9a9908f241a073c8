//! Asks a control plane for the definitions of its types.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use envtest::Assets;
use serde_json::{Value, json};

/// What the server says of its types.
#[derive(Clone, Debug)]
pub struct Documents {
    /// Its version, such as `v1.36.3`.
    pub version: String,
    /// Every type by its name, such as `io.k8s.api.core.v1.Pod`.
    pub definitions: BTreeMap<String, Value>,
}

impl Documents {
    /// What a file of derived data is, and where it comes from.
    pub(crate) fn about(&self, what: &str) -> Value {
        json!({
            "what": what,
            "origin": format!("OpenAPI v3 of kube-apiserver {}, derived by `cargo xtask overlay`", self.version),
            "license": "Apache-2.0, The Kubernetes Authors",
        })
    }
}

/// All types of all groups that the server has by itself.
///
/// # Errors
/// kubectl cannot ask, or the answer cannot be read.
pub fn documents(assets: &Assets, kubeconfig: &Path) -> Result<Documents> {
    let get = |path: &str| get(&assets.dir().join("kubectl"), kubeconfig, path);
    let index = get("/openapi/v3")?;
    let paths = index.get("paths").and_then(Value::as_object).context("the index of OpenAPI names no paths")?;
    let mut definitions = BTreeMap::new();
    for path in paths.keys().filter(|path| *path == "api/v1" || path.matches('/').count() == 2) {
        let document = get(&format!("/openapi/v3/{path}"))?;
        let schemas = document.pointer("/components/schemas").and_then(Value::as_object);
        let own = schemas.into_iter().flatten().filter(|(name, _)| name.starts_with("io.k8s."));
        definitions.extend(own.map(|(name, schema)| (name.clone(), schema.clone())));
    }
    let version = get("/version")?.get("gitVersion").and_then(Value::as_str).map(str::to_owned);
    Ok(Documents { version: version.context("the server does not say its version")?, definitions })
}

fn get(kubectl: &Path, kubeconfig: &Path, path: &str) -> Result<Value> {
    let answer = Command::new(kubectl).args(["get", "--raw", path]).env("KUBECONFIG", kubeconfig).output();
    let answer = answer.with_context(|| format!("cannot run {}", kubectl.display()))?;
    ensure!(answer.status.success(), "GET {path}: {}", String::from_utf8_lossy(&answer.stderr).trim());
    serde_json::from_slice(&answer.stdout).with_context(|| format!("GET {path}: the answer is not JSON"))
}
