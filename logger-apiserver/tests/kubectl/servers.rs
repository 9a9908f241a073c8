//! The two servers that kubectl speaks to

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
    desk::{Desk, Said},
    script::Script,
};

/// How long the server may take to say what its new kinds look like.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that has the generated definitions.
pub(crate) struct Server {
    tools: PathBuf,
    kubeconfig: PathBuf,
}

impl Server {
    /// Installs the definitions, and waits until kubectl knows them.
    pub(crate) fn new(assets: &Assets, kubeconfig: &Path) -> Result<Self, Box<dyn Error>> {
        let server = Self { tools: assets.dir().to_owned(), kubeconfig: kubeconfig.to_owned() };
        server.install().map_err(|failed| failed.message().unwrap_or_default().to_owned())?;
        Ok(server)
    }

    fn install(&self) -> Result<(), Failed> {
        let desk = Desk::new(&self.tools, &self.kubeconfig)?;
        succeed(&desk, "kubectl apply -f $CONFIG/crd/bases")?;
        succeed(&desk, "kubectl wait --for=condition=Established crd --all --timeout=30s")?;
        let deadline = Instant::now() + PATIENCE;
        while desk.say("kubectl explain loggers")?.code != Some(0) {
            if Instant::now() > deadline {
                return Err("the server does not say what a Logger looks like".into());
            }
        }
        Ok(())
    }

    /// Types a script in a namespace of its own.
    pub(crate) fn run(&self, script: &Script) -> Result<Vec<Said>, Failed> {
        let desk = Desk::new(&self.tools, &self.kubeconfig)?;
        let name = &script.name;
        succeed(&desk, &format!("kubectl config set-context --current --namespace={name}"))?;
        let namespace = format!(r#"{{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{name}"}}}}"#);
        succeed(&desk, &format!("echo '{namespace}' | kubectl create -f -"))?;
        desk.run(script)
    }
}

fn succeed(desk: &Desk, line: &str) -> Result<(), Failed> {
    match desk.say(line)? {
        Said { code: Some(0), .. } => Ok(()),
        said => Err(format!("{line}\n{said}").into()),
    }
}

/// Our program while it runs. It is killed when this is dropped.
pub(crate) struct Program {
    child: Child,
    directory: TempDir,
}

impl Program {
    /// Starts it on a free port, without the controllers that the real server has not got beside it, either.
    pub(crate) fn start() -> Result<Self, Box<dyn Error>> {
        let directory = tempfile::tempdir()?;
        let mut command = Command::new(env!("CARGO_BIN_EXE_logger-apiserver"));
        command.args(["--port", "0", "--no-garbage-collection", "--write-kubeconfig"]);
        command.arg(directory.path().join("kubeconfig"));
        let child = command.stdout(Stdio::piped()).spawn()?;
        let mut program = Self { child, directory };
        let mut line = String::new();
        BufReader::new(program.child.stdout.take().ok_or("stdout is piped")?).read_line(&mut line)?;
        if line.is_empty() { Err("the program has ended before it served".into()) } else { Ok(program) }
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
