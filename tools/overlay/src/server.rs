//! Requests the OpenAPI definitions of a control plane.

use std::{collections::BTreeMap, path::Path, process::Command};

use anyhow::{Context, Result, ensure};
use envtest::Assets;
use serde_json::{Value, json};

/// The OpenAPI definitions of a server.
#[derive(Clone, Debug)]
pub struct Documents {
    /// The version of the server, such as `v1.36.3`.
    pub version: String,
    /// The definitions by type name, such as `io.k8s.api.core.v1.Pod`.
    pub definitions: BTreeMap<String, Value>,
}

impl Documents {
    /// Returns the description and the origin of a derived file.
    pub(crate) fn about(&self, what: &str) -> Value {
        json!({
            "what": what,
            "origin": format!("OpenAPI v3 of kube-apiserver {}, derived by `cargo xtask overlay`", self.version),
            "license": "Apache-2.0, The Kubernetes Authors",
        })
    }
}

/// Returns the definitions of all built-in groups.
///
/// # Errors
/// Fails if kubectl fails or a response is malformed.
pub fn documents(assets: &Assets, kubeconfig: &Path) -> Result<Documents> {
    let get = |path: &str| get(&assets.dir().join("kubectl"), kubeconfig, path);
    let index = get("/openapi/v3")?;
    let paths = index.get("paths").and_then(Value::as_object).context("the OpenAPI index has no paths")?;
    let mut definitions = BTreeMap::new();
    for path in paths.keys().filter(|path| *path == "api/v1" || path.matches('/').count() == 2) {
        let document = get(&format!("/openapi/v3/{path}"))?;
        let schemas = document.pointer("/components/schemas").and_then(Value::as_object);
        let kubernetes = schemas.into_iter().flatten().filter(|(name, _)| name.starts_with("io.k8s."));
        definitions.extend(kubernetes.map(|(name, schema)| (name.clone(), schema.clone())));
    }
    let version = get("/version")?.get("gitVersion").and_then(Value::as_str).map(str::to_owned);
    Ok(Documents { version: version.context("the server reports no version")?, definitions })
}

fn get(kubectl: &Path, kubeconfig: &Path, path: &str) -> Result<Value> {
    let output = Command::new(kubectl).args(["get", "--raw", path]).env("KUBECONFIG", kubeconfig).output();
    let output = output.with_context(|| format!("cannot run {}", kubectl.display()))?;
    ensure!(output.status.success(), "GET {path}: {}", String::from_utf8_lossy(&output.stderr).trim());
    serde_json::from_slice(&output.stdout).with_context(|| format!("GET {path}: the response is not JSON"))
}
