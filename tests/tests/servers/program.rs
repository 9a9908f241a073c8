//! Every scenario on the API server in memory as a program: over its socket, as kubectl and controllers reach it.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use libtest_mimic::Trial;
use tempfile::TempDir;
use tests::scenarios::ALL;
use tokio::sync::OnceCell;

/// The trials share one program, which stops with the last of them.
pub(super) fn trials() -> impl Iterator<Item = Trial> {
    let program = Arc::new(OnceCell::new());
    ALL.iter().map(move |scenario| {
        let program = Arc::clone(&program);
        super::scenario("program", scenario, async move || connect(&program).await)
    })
}

/// Returns a client of the program. The first caller starts the program and installs every generated CRD.
async fn connect(program: &OnceCell<Program>) -> Client {
    let start = async || {
        let program = Program::start();
        tests::install_crds(&program.client().await).await;
        program
    };
    program.get_or_init(start).await.client().await
}

/// The running program. It is killed on drop.
struct Program {
    child: Child,
    directory: TempDir,
}

impl Program {
    /// Starts the program on a free port and waits until it serves.
    fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut command = Command::new(tests::program("kubewright-apiserver"));
        command
            .args(["--authorization-mode", "RBAC", "--port", "0", "--write-kubeconfig"])
            .arg(directory.path().join("kubeconfig"));
        let child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut program = Self { child, directory };
        let mut line = String::new();
        BufReader::new(program.child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("serving on https://"), "{line:?}");
        program
    }

    async fn client(&self) -> Client {
        let kubeconfig = Kubeconfig::read_from(self.directory.path().join("kubeconfig")).unwrap();
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
        Client::try_from(config).unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
