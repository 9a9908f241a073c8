//! kubectl as a program.

use std::{
    env,
    ffi::OsString,
    io::{self, Write},
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::Value;

use super::DeployError;

/// kubectl, with the options of every command.
#[derive(Clone, Debug)]
pub struct Kubectl {
    program: OsString,
    options: Vec<OsString>,
}

impl Kubectl {
    /// Returns the kubectl of the variable `KUBECTL`, or of the `PATH`.
    #[must_use]
    pub fn from_env() -> Self {
        Self::at(env::var_os("KUBECTL").unwrap_or_else(|| OsString::from("kubectl")))
    }

    /// Returns the kubectl at this path.
    #[must_use]
    pub fn at(program: impl Into<OsString>) -> Self {
        Kubectl { program: program.into(), options: Vec::new() }
    }

    /// Selects a context of the kubeconfig.
    #[must_use]
    pub fn context(mut self, name: &str) -> Self {
        self.options.push(format!("--context={name}").into());
        self
    }

    /// Selects a kubeconfig.
    #[must_use]
    pub fn kubeconfig(mut self, path: &Path) -> Self {
        self.options.extend([OsString::from("--kubeconfig"), path.into()]);
        self
    }

    /// Builds a kustomization without a request to the cluster, and returns the YAML.
    ///
    /// # Errors
    /// Fails if the directory has no kustomization, or an invalid one.
    pub fn kustomize(&self, directory: &Path) -> Result<String, DeployError> {
        let path = directory.join("kustomization.yaml");
        if !path.is_file() {
            return Err(DeployError::NotRendered { path });
        }
        let mut command = Command::new(&self.program);
        let output = command.arg("kustomize").arg(directory).stdin(Stdio::null()).output();
        let output = output.map_err(|source| self.not_started(source))?;
        succeeded(&output, &["kustomize"])
    }

    /// Returns the namespace of the context.
    ///
    /// # Errors
    /// Fails if there is no context.
    pub fn namespace(&self) -> Result<String, DeployError> {
        let path = "--output=jsonpath={.contexts[0].context.namespace}";
        let namespace = self.run(&["config", "view", "--minify", path])?;
        Ok(match namespace.trim() {
            "" => "default".to_owned(),
            namespace => namespace.to_owned(),
        })
    }

    /// Runs a command and returns its output.
    pub(super) fn run(&self, args: &[&str]) -> Result<String, DeployError> {
        succeeded(&self.output(args)?, args)
    }

    /// Runs a command and returns its output, which is JSON; `None` if it is empty.
    pub(super) fn json(&self, args: &[&str]) -> Result<Option<Value>, DeployError> {
        let text = self.run(args)?;
        match text.trim() {
            "" => Ok(None),
            json => serde_json::from_str(json)
                .map(Some)
                .map_err(|source| DeployError::Json { command: args.join(" "), source }),
        }
    }

    /// Runs a command that can fail.
    pub(super) fn output(&self, args: &[&str]) -> Result<Output, DeployError> {
        self.command(args).stdin(Stdio::null()).output().map_err(|source| self.not_started(source))
    }

    /// Runs a command whose standard output is that of this process.
    pub(super) fn show(&self, args: &[&str]) -> Result<(), DeployError> {
        let output = self.command(args).stdin(Stdio::null()).stdout(Stdio::inherit()).output();
        succeeded(&output.map_err(|source| self.not_started(source))?, args).map(drop)
    }

    /// Runs a command on objects, which it reads as JSON.
    pub(super) fn with_objects(&self, args: &[&str], objects: &[&Value], stdout: Stdio) -> Result<(), DeployError> {
        let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
        let output = with_input(self.command(args).stdout(stdout), list.as_bytes());
        succeeded(&output.map_err(|source| self.not_started(source))?, args).map(drop)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.options).args(args);
        command
    }

    fn not_started(&self, source: io::Error) -> DeployError {
        DeployError::Kubectl { program: self.program.to_string_lossy().into_owned(), source }
    }
}

fn with_input(command: &mut Command, input: &[u8]) -> io::Result<Output> {
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        match stdin.write_all(input) {
            // It has failed, and prints why.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            result => result?,
        }
    }
    child.wait_with_output()
}

/// Returns what kubectl printed on its standard error, without the word `error`, which is part of the error of the
/// command.
pub(super) fn message(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let message = stderr.trim();
    message.strip_prefix("error: ").unwrap_or(message).to_owned()
}

fn succeeded(output: &Output, args: &[&str]) -> Result<String, DeployError> {
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(DeployError::Failed { command: args.join(" "), message: message(output) }),
    }
}
