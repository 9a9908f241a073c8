//! A cluster that is left running, with kubectl.

use std::{
    net::{SocketAddr, TcpStream},
    path::Path,
    process::Command,
    sync::Arc,
};

use libtest_mimic::{Failed, Trial};
use tests::{
    process::{Process, Signal, wait_until},
    program,
};

use super::Suite;

pub(super) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    vec![suite.test("demo::a_running_cluster_is_used_with_kubectl", |environment| {
        let kubectl = environment.assets.kubectl();
        used_with_kubectl(&kubectl)
    })]
}

/// kubectl with the kubeconfig of the cluster.
struct Kubectl<'a> {
    program: &'a Path,
    directory: &'a Path,
}

impl Kubectl<'_> {
    /// Runs a command, which must succeed, and returns its output.
    fn run(&self, line: &str) -> Result<String, Failed> {
        let output = self.command(line).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        match output.status.success() {
            true => Ok(text),
            false => Err(format!("kubectl {line}: {text}{}", String::from_utf8_lossy(&output.stderr)).into()),
        }
    }

    fn command(&self, line: &str) -> Command {
        let mut kubectl = Command::new(self.program);
        kubectl.arg("--kubeconfig").arg(self.directory.join("kubeconfig")).args(line.split(' '));
        kubectl.env_remove("KUBECONFIG").env("HOME", self.directory);
        kubectl
    }

    /// Waits until the Logger reports this number of ready agents.
    fn wait_for_agents(&self, number: u32) -> Result<(), Failed> {
        let what = format!("{number} agents");
        wait_until::<Failed>(&what, || {
            let status = self.command("get logger activity -o jsonpath={.status.state}-{.status.replicas}").output()?;
            Ok(String::from_utf8_lossy(&status.stdout) == format!("Available-{number}"))
        })
    }
}

fn check(is_met: bool, expected: &str, output: &str) -> Result<(), Failed> {
    if is_met { Ok(()) } else { Err(format!("expected: {expected}\n{output}").into()) }
}

fn used_with_kubectl(program_path: &Path) -> Result<(), Failed> {
    let files = tempfile::tempdir()?;
    let directory = files.path().join("cluster");
    let mut demo = Command::new(program("demo"));
    demo.args(["--serve", "--agent"]).arg(program("logger-agent")).arg("--directory").arg(&directory);
    let demo = Process::start("demo", &mut demo, files.path().join("log"))?.with_children();
    let kubectl = Kubectl { program: program_path, directory: &directory };
    kubectl.wait_for_agents(2)?;

    let nodes = kubectl.run("get nodes")?;
    check(nodes.matches(" Ready ").count() == 3, "three ready nodes", &nodes)?;
    let page = kubectl.run("describe logger activity")?;
    check(page.contains("Available") && page.contains("Events:"), "the status and events", &page)?;
    let log = kubectl.run("logs deployment/logger-activity --tail 100")?;
    check(log.contains("listening on 127."), "the log of an agent", &log)?;
    kubectl.run("scale logger activity --replicas 3")?;
    kubectl.wait_for_agents(3)?;
    let rollout = kubectl.run("rollout status deployment/logger-activity --timeout 60s")?;
    check(rollout.contains("successfully rolled out"), "a complete rollout", &rollout)?;

    kubectl.run("drain zone-a-1 --delete-emptydir-data --timeout 60s")?;
    let remaining = kubectl.run("get pods --field-selector spec.nodeName=zone-a-1 -o name")?;
    check(remaining.is_empty(), "no Pod on the drained node", &remaining)?;
    let cordoned = kubectl.run("get node zone-a-1")?;
    check(cordoned.contains("SchedulingDisabled"), "a cordoned node", &cordoned)?;
    kubectl.run("uncordon zone-a-1")?;
    kubectl.wait_for_agents(3)?;

    let addresses = kubectl.run("get pods -o jsonpath={.items[*].status.podIP}")?;
    let agents: Vec<_> = addresses.split(' ').map(|ip| format!("{ip}:8080").parse::<SocketAddr>()).collect();
    let agents: Vec<_> = agents.into_iter().collect::<Result<_, _>>()?;
    check(agents.len() == 3 && agents.iter().all(|agent| TcpStream::connect(agent).is_ok()), "agents", &addresses)?;
    demo.signal(Signal::INT)?;
    let exit = demo.wait()?;
    check(exit.code == Some(0), "exit code 0", &exit.errors)?;
    check(agents.iter().all(|agent| TcpStream::connect(agent).is_err()), "no agents", &addresses)
}
