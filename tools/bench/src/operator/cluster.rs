//! The control plane of a program, with an audit log of its requests.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use envtest::ControlPlane;
use tempfile::TempDir;

use crate::{files, paths, program};

/// Logs the requests of the program only, which authenticates as a service account.
const POLICY: &str = "apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, Panic]
rules:
- level: Metadata
  users: ['system:serviceaccount:operator:operator']
- level: None
";

/// Exceeds the duration of a measurement.
const TOKEN_DURATION: &str = "24h";

/// A control plane, which stops when this is dropped.
pub(super) struct Cluster {
    plane: ControlPlane,
    /// Dropped after the control plane, which writes to it.
    directory: TempDir,
}

impl Cluster {
    /// Starts a control plane with the definition of Loggers and a service account.
    pub(super) fn start() -> Result<Cluster> {
        let assets = envtest::find()?.with_context(|| format!("no control plane; {}", envtest::HOW_TO_GET))?;
        let parent = paths::home().join("operator");
        fs::create_dir_all(&parent).with_context(|| format!("cannot create {}", parent.display()))?;
        let directory = TempDir::with_prefix_in("audit-", &parent).context("cannot create a directory")?;
        let policy = directory.path().join("policy.yaml");
        files::write(&policy, POLICY)?;
        let flags = [
            format!("--audit-policy-file={}", policy.display()),
            format!("--audit-log-path={}", directory.path().join("audit.log").display()),
            // Without rotation: the requests are counted at the end.
            "--audit-log-maxsize=100000".to_owned(),
        ];
        let plane = ControlPlane::start_in_with(&assets, &parent, &flags.each_ref().map(String::as_str))?;
        let cluster = Cluster { plane, directory };
        cluster.define()?;
        cluster.create_service_account()?;
        Ok(cluster)
    }

    fn define(&self) -> Result<()> {
        let definition = paths::workspace_root().join("config/crd/bases/example.com_loggers.yaml");
        program::output(self.plane.kubectl().args(["apply", "--filename"]).arg(definition))?;
        self.kubectl("wait --for=condition=Established crd/loggers.example.com").map(drop)
    }

    /// Creates a service account with all permissions, and its kubeconfig.
    fn create_service_account(&self) -> Result<()> {
        self.kubectl("create namespace operator")?;
        self.kubectl("create serviceaccount operator --namespace operator")?;
        let role = "--clusterrole=cluster-admin --serviceaccount=operator:operator";
        self.kubectl(&format!("create clusterrolebinding operator {role}"))?;
        let token = self.kubectl(&format!("create token operator --namespace operator --duration={TOKEN_DURATION}"))?;
        let kubeconfig = self.operator_kubeconfig();
        fs::copy(self.kubeconfig(), &kubeconfig).with_context(|| format!("cannot write {}", kubeconfig.display()))?;
        let mut command = self.plane.kubectl();
        command.arg("--kubeconfig").arg(&kubeconfig).args(["config", "set-credentials", "admin"]);
        program::output(command.arg(format!("--token={}", token.trim()))).map(drop)
    }

    /// Returns the administrator's kubeconfig.
    pub(super) fn kubeconfig(&self) -> &Path {
        self.plane.kubeconfig()
    }

    /// Returns the kubeconfig of the service account.
    pub(super) fn operator_kubeconfig(&self) -> PathBuf {
        self.directory.path().join("kubeconfig")
    }

    /// Returns the file for the log of the program.
    pub(super) fn log(&self) -> PathBuf {
        self.directory.path().join("operator.log")
    }

    /// Returns the requests of the program, one JSON object per line.
    pub(super) fn audit_log(&self) -> Result<String> {
        files::read(&self.directory.path().join("audit.log"))
    }

    fn kubectl(&self, args: &str) -> Result<String> {
        program::output(self.plane.kubectl().args(args.split(' ')))
    }
}
