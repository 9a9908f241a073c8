//! Every scenario on the API server in memory as a program: over its socket, as kubectl and controllers reach it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tests::scenarios::ALL;

#[tokio::test]
async fn every_scenario_runs_on_the_program_over_its_socket() {
    let directory = tempfile::tempdir().unwrap();
    let kubeconfig = directory.path().join("kubeconfig");
    let _program = Program::start(&kubeconfig);
    let client = client(&kubeconfig).await;
    tests::install_crds(&client).await;
    for scenario in ALL {
        println!("{}", scenario.name);
        (scenario.run)(client.clone()).await;
    }
}

async fn client(kubeconfig: &Path) -> Client {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

/// The program while it runs. It is killed when this is dropped.
struct Program(Child);

impl Program {
    /// Starts it on a free port, and waits until it serves.
    fn start(kubeconfig: &Path) -> Self {
        let mut command = Command::new(built());
        command.args(["--port", "0", "--write-kubeconfig"]).arg(kubeconfig).stdout(Stdio::piped());
        let mut program = Self(command.spawn().unwrap());
        let mut line = String::new();
        BufReader::new(program.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("serving on http://"), "{line:?}");
        program
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The program, built by cargo, which says where it is.
fn built() -> PathBuf {
    let args = ["build", "--quiet", "--package", "logger-apiserver", "--features", "serve", "--message-format", "json"];
    let output = tests::cargo(&args).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success());
    let messages = String::from_utf8(output.stdout).unwrap();
    let mut executables = messages.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    executables.next_back().expect("cargo says where the program is")
}
