//! The API servers on which projects are installed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use envtest::{Assets, ControlPlane};
use libtest_mimic::Failed;
use serde_json::Value;
use tempfile::TempDir;
use tests::process::{Process, wait_until};

/// A server without controllers of workloads, which authorizes by roles.
pub(super) struct Server {
    kubectl: PathBuf,
    kubeconfig: PathBuf,
    files: TempDir,
    // Stopped on drop.
    _running: Running,
}

/// A running server.
#[expect(dead_code, reason = "held until the server is dropped")]
enum Running {
    Program(Process),
    ControlPlane(Box<ControlPlane>),
}

impl Server {
    /// Starts the API server in memory on a free port.
    pub(super) fn in_memory(assets: &Assets) -> Result<Self, Failed> {
        let files = tempfile::tempdir()?;
        let kubeconfig = files.path().join("kubeconfig");
        let mut program = Command::new(tests::program("kubewright-apiserver"));
        program.args(["--authorization-mode", "RBAC", "--port", "0", "--write-kubeconfig"]).arg(&kubeconfig);
        let program = Process::start("kubewright-apiserver", &mut program, files.path().join("log"))?;
        let server = Server { kubectl: assets.kubectl(), kubeconfig, files, _running: Running::Program(program) };
        wait_until::<Failed>("the server", || Ok(server.kubeconfig.exists() && server.kubectl(&["version"]).is_ok()))?;
        Ok(server)
    }

    /// Starts etcd and kube-apiserver on free ports.
    pub(super) fn control_plane(assets: &Assets) -> Result<Self, Failed> {
        let control_plane = ControlPlane::start(assets).map_err(|error| format!("{error:?}"))?;
        Ok(Server {
            kubectl: assets.kubectl(),
            kubeconfig: control_plane.kubeconfig().to_owned(),
            files: tempfile::tempdir()?,
            _running: Running::ControlPlane(Box::new(control_plane)),
        })
    }

    /// Returns the path of the kubeconfig of the administrator.
    pub(super) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Returns the directory of files of the test, which is removed with the server.
    pub(super) fn files(&self) -> &Path {
        self.files.path()
    }

    /// Runs kubectl as the administrator, and returns its output.
    pub(super) fn kubectl(&self, args: &[&str]) -> Result<String, Failed> {
        self.run(&self.kubeconfig, args).map(|(output, _)| output)
    }

    /// Applies objects like [`kubectl`](Self::kubectl). A warning of the server is an error.
    pub(super) fn apply(&self, args: &[&str]) -> Result<String, Failed> {
        let (output, warnings) = self.run(&self.kubeconfig, &[&["apply"], args].concat())?;
        if warnings.is_empty() { Ok(output) } else { Err(warnings.into()) }
    }

    /// Returns an object; `Null` if it does not exist.
    pub(super) fn get(&self, namespace: &str, kind: &str, name: &str) -> Result<Value, Failed> {
        let args = ["get", kind, name, "--namespace", namespace, "--ignore-not-found", "--output=json"];
        let text = self.kubectl(&args)?;
        if text.is_empty() { Ok(Value::Null) } else { Ok(serde_json::from_str(&text)?) }
    }

    /// Returns which objects of a file exist.
    pub(super) fn existing(&self, file: &Path) -> Result<String, Failed> {
        self.kubectl(&["get", "--ignore-not-found", "--output=name", "--filename", &file.to_string_lossy()])
    }

    /// Writes a kubeconfig with a token of a service account, when the server authorizes these requests of it.
    pub(super) fn log_in(&self, namespace: &str, account: &str, requests: &[&str]) -> Result<PathBuf, Failed> {
        let user = format!("--as=system:serviceaccount:{namespace}:{account}");
        for request in requests {
            let args: Vec<_> = ["auth", "can-i"].into_iter().chain(request.split(' ')).chain([user.as_str()]).collect();
            wait_until::<Failed>(request, || Ok(self.kubectl(&args).is_ok()))?;
        }
        let token = self.kubectl(&["create", "token", account, "--namespace", namespace])?;
        let kubeconfig = self.files.path().join(format!("{namespace}-{account}.kubeconfig"));
        fs::copy(&self.kubeconfig, &kubeconfig)?;
        let credentials = format!("--token={}", token.trim());
        self.run(&kubeconfig, &["config", "set-credentials", account, &credentials])?;
        let namespace = format!("--namespace={namespace}");
        self.run(&kubeconfig, &["config", "set-context", "--current", &format!("--user={account}"), &namespace])?;
        Ok(kubeconfig)
    }

    /// Runs kubectl, and returns its output and its warnings.
    fn run(&self, kubeconfig: &Path, args: &[&str]) -> Result<(String, String), Failed> {
        let mut kubectl = Command::new(&self.kubectl);
        kubectl.arg("--kubeconfig").arg(kubeconfig).args(args);
        let output = kubectl.env_remove("KUBECONFIG").env("HOME", self.files.path()).output()?;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.success() {
            true => Ok((String::from_utf8(output.stdout)?, errors)),
            false => Err(format!("kubectl {}: {errors}", args.join(" ")).into()),
        }
    }
}
