//! The two servers that kubectl connects to.

use std::{
    error::Error,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use envtest::Assets;
use libtest_mimic::Failed;
use tempfile::TempDir;

use crate::{
    script::Script,
    shell::{Output, Shell},
};

/// The limit of the wait for the OpenAPI documents of new kinds.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A server with the generated CRDs.
pub(crate) struct Server {
    tools: PathBuf,
    kubeconfig: PathBuf,
}

impl Server {
    /// Installs the CRDs, and waits until kubectl can explain them.
    pub(crate) fn new(assets: &Assets, kubeconfig: &Path) -> Result<Self, Box<dyn Error>> {
        let server = Self { tools: assets.dir().to_owned(), kubeconfig: kubeconfig.to_owned() };
        server.install().map_err(|failed| failed.message().unwrap_or_default().to_owned())?;
        Ok(server)
    }

    fn install(&self) -> Result<(), Failed> {
        let shell = Shell::new(&self.tools, &self.kubeconfig)?;
        run_successfully(&shell, "kubectl apply -f $CONFIG/crd/bases")?;
        run_successfully(&shell, "kubectl wait --for=condition=Established crd --all --timeout=30s")?;
        let deadline = Instant::now() + TIMEOUT;
        while shell.run("kubectl explain loggers")?.code != Some(0) {
            if Instant::now() > deadline {
                return Err("the server does not publish the schema of Loggers".into());
            }
        }
        Ok(())
    }

    /// Runs a script in a dedicated namespace.
    pub(crate) fn run(&self, script: &Script) -> Result<Vec<Output>, Failed> {
        let shell = Shell::new(&self.tools, &self.kubeconfig)?;
        let name = &script.name;
        run_successfully(&shell, &format!("kubectl config set-context --current --namespace={name}"))?;
        let namespace = format!(r#"{{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{name}"}}}}"#);
        run_successfully(&shell, &format!("echo '{namespace}' | kubectl create -f -"))?;
        shell.run_script(script)
    }
}

fn run_successfully(shell: &Shell, line: &str) -> Result<(), Failed> {
    match shell.run(line)? {
        Output { code: Some(0), .. } => Ok(()),
        output => Err(format!("{line}\n{output}").into()),
    }
}

/// Our running program. It is killed on drop.
pub(crate) struct Program {
    child: Child,
    directory: TempDir,
}

impl Program {
    /// Starts the program on a free port, with authorization by roles and without garbage collection: no controller
    /// manager runs beside the real server, either.
    pub(crate) fn start() -> Result<Self, Box<dyn Error>> {
        let directory = tempfile::tempdir()?;
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubewright-apiserver"));
        command.args(["--port", "0", "--no-garbage-collection", "--authorization-mode", "RBAC", "--write-kubeconfig"]);
        command.arg(directory.path().join("kubeconfig"));
        let child = command.stdout(Stdio::piped()).spawn()?;
        let mut program = Self { child, directory };
        let mut line = String::new();
        BufReader::new(program.child.stdout.take().ok_or("stdout is piped")?).read_line(&mut line)?;
        if line.is_empty() { Err("the program ended before it served".into()) } else { Ok(program) }
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.directory.path().join("kubeconfig")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
