//! A program in place of kubectl, and an installation that uses it.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use kubewright_project::deploy::{DeployError, Installation, Kubectl, Manifest};
use serde_json::Value;
use tempfile::TempDir;

/// The objects of an operator, in the order of kustomize.
pub(crate) const MANIFEST: &str = "\
apiVersion: v1
kind: Namespace
metadata:
  name: widget-system
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.org
spec:
  scope: Namespaced
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: manager-role
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: manager
  namespace: widget-system
spec:
  selector:
    matchLabels:
      app: widgets
  template:
    spec:
      containers:
      - name: manager
        image: widgets:1
";

const RESOURCES: &str = "\
namespaces ns v1 false Namespace
customresourcedefinitions crd,crds apiextensions.k8s.io/v1 false CustomResourceDefinition
validatingwebhookconfigurations admissionregistration.k8s.io/v1 false ValidatingWebhookConfiguration
clusterroles rbac.authorization.k8s.io/v1 false ClusterRole
deployments deploy apps/v1 true Deployment
";

/// The directory of the program in place of kubectl.
pub(crate) struct Fixture(TempDir);

impl Fixture {
    /// Creates a fixture with these responses: patterns of the shell for arguments, with commands.
    pub(crate) fn new(responses: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
        write("responses", &format!("case \"$*\" in\n{responses}\n'') ;;\nesac\n"));
        write("resources", RESOURCES);
        write("log", "");
        write("input", "");
        Fixture(directory)
    }

    pub(crate) fn installation(&self, manifest: Manifest) -> Installation {
        self.try_installation(manifest).unwrap()
    }

    pub(crate) fn try_installation(&self, manifest: Manifest) -> Result<Installation, DeployError> {
        Installation::new("widget-operator", manifest, self.kubectl(), "5m".parse().unwrap())
    }

    /// Returns the program in place of kubectl.
    pub(crate) fn kubectl(&self) -> Kubectl {
        let package = env::var_os("CARGO_MANIFEST_DIR").unwrap();
        let kubectl = Kubectl::at(Path::new(&package).join("tests/deploy/kubectl"));
        kubectl.context(&self.0.path().to_string_lossy())
    }

    /// Returns a directory that exists as long as the sources, with a file that looks like a kustomization.
    pub(crate) fn directory_with_kustomization() -> PathBuf {
        let package = env::var_os("CARGO_MANIFEST_DIR").unwrap();
        Path::new(&package).join("tests/deploy/configuration")
    }

    /// Returns the arguments of each command after the last check that only reads.
    pub(crate) fn log_after_checks(&self) -> Vec<String> {
        let mut log = self.log();
        let first = log.iter().position(|line| line.starts_with("apply")).unwrap_or(log.len());
        log.split_off(first)
    }

    /// Returns the arguments of the commands that write.
    pub(crate) fn writes(&self) -> Vec<String> {
        let is_write = |line: &String| ["apply", "delete", "patch"].iter().any(|verb| line.starts_with(verb));
        self.log().into_iter().filter(|line| is_write(line) && !line.contains("--dry-run=server")).collect()
    }

    /// Returns what the commands have read.
    pub(crate) fn input(&self) -> String {
        fs::read_to_string(self.0.path().join("input")).unwrap()
    }

    /// Returns the kinds of the objects that each command has read.
    pub(crate) fn applied_kinds(&self) -> Vec<Vec<String>> {
        let kinds = |line: &str| {
            let list: Value = serde_json::from_str(line).unwrap();
            let items = list["items"].as_array().unwrap().iter();
            items.map(|object| object["kind"].as_str().unwrap().to_owned()).collect()
        };
        self.input().lines().map(kinds).collect()
    }

    fn log(&self) -> Vec<String> {
        fs::read_to_string(self.0.path().join("log")).unwrap().lines().map(str::to_owned).collect()
    }
}
