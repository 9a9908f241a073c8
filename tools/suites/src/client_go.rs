//! The examples of client-go that use an API server: programs, each on a new server.
//!
//! The example for clients inside a cluster needs a Pod, and that of the fake client no server.

use std::{fs, path::Path, process::Command, time::Duration};

use anyhow::{Result, bail, ensure};
use envtest::GoModule;

use crate::{
    go,
    outcome::{Outcome, Outcomes},
    paths,
    program::{self, Program},
    sandbox::Sandbox,
    server::Server,
};

/// The version of the control plane.
const MODULE: GoModule =
    GoModule { path: "k8s.io/client-go", version: "v0.36.3", sum: "h1:M4JdVzXxYcZk4fGpfDdYnxSwhLKWCFoQsHW6t+z8Hfg=" };

/// How long an example may take until it has printed what is expected.
const LIMIT: Duration = Duration::from_secs(60);

/// An example, which gets a kubeconfig.
struct Example {
    /// The name of its directory.
    name: &'static str,
    args: &'static [&'static str],
    /// Parts of its output, in this order.
    output: &'static [&'static str],
    end: End,
}

/// How an example ends.
enum End {
    /// By itself, successfully.
    Success,
    /// It is terminated, and prints this before it ends successfully.
    Graceful(&'static str),
    /// It is terminated.
    Terminated,
}

const DEPLOYMENT: [&str; 4] = [
    "Created deployment \"demo-deployment\".",
    "Updated deployment...",
    " * demo-deployment (1 replicas)",
    "Deleted deployment.",
];

const EXAMPLES: [Example; 5] = [
    Example { name: "create-update-delete-deployment", args: &[], output: &DEPLOYMENT, end: End::Success },
    Example { name: "dynamic-create-update-delete-deployment", args: &[], output: &DEPLOYMENT, end: End::Success },
    Example {
        name: "leader-election",
        args: &["-lease-lock-name=example", "-lease-lock-namespace=default", "-id=first"],
        output: &["Successfully acquired lease", "Controller loop..."],
        end: End::Graceful("leader lost: first"),
    },
    Example {
        name: "out-of-cluster-client-configuration",
        args: &[],
        output: &["There are 0 pods in the cluster", "Pod example-xxxxx in namespace default not found"],
        end: End::Terminated,
    },
    Example {
        name: "workqueue",
        args: &[],
        output: &["Starting Pod controller", "Pod default/mypod does not exist anymore"],
        end: End::Terminated,
    },
];

/// Runs the examples on a server.
pub(crate) fn run(server: &Server, sandbox: &Sandbox) -> Result<Outcomes> {
    let sources = go::check_out(&MODULE)?;
    let programs = paths::home()?.join("client-go");
    let mut go = sandbox.command("go");
    go.current_dir(&sources).env("GOWORK", "off");
    let packages: Vec<String> = EXAMPLES.iter().map(|example| format!("./examples/{}", example.name)).collect();
    go::build(go, &packages, &programs)?;
    let mut outcomes = Outcomes::default();
    for example in &EXAMPLES {
        let plane = server.start()?;
        let mut command = sandbox.command(programs.join(example.name));
        command.arg("-kubeconfig").arg(plane.kubeconfig()).args(example.args);
        let log = program::log(&format!("client-go-{}-{}", server.name, example.name))?;
        let outcome = match example.run(&mut command, &log) {
            Ok(()) => Outcome::Passed,
            Err(error) => Outcome::failed(&format!("{error:#}\n{}", program::tail(&log))),
        };
        outcomes.add(example.name, outcome);
        plane.stop()?;
    }
    Ok(outcomes)
}

impl Example {
    /// Runs the program, whose output is written to the file.
    fn run(&self, command: &mut Command, log: &Path) -> Result<()> {
        let file = program::create(log)?;
        let mut program = Program::start(command, file.try_clone()?, file)?;
        let has_printed = || is_in_order(&fs::read_to_string(log).unwrap_or_default(), self.output);
        let ended = match self.end {
            End::Success => program.wait_until(LIMIT, || false)?,
            End::Graceful(_) | End::Terminated => program.wait_until(LIMIT, has_printed)?,
        };
        match (&self.end, ended) {
            (End::Success, Some(status)) => ensure!(status.success(), "{status}"),
            (End::Graceful(last), None) => {
                let status = program.stop()?;
                ensure!(status.is_some_and(|status| status.success()), "not successful after SIGTERM: {status:?}");
                ensure!(fs::read_to_string(log)?.contains(last), "`{last}` is not printed after SIGTERM");
            }
            (End::Terminated, None) => drop(program.stop()?),
            (_, ended) => bail!("unexpected end: {ended:?}"),
        }
        ensure!(has_printed(), "the output does not contain {:?} in this order", self.output);
        Ok(())
    }
}

/// Reports whether a text contains parts in this order.
fn is_in_order(text: &str, parts: &[&str]) -> bool {
    let rest = parts.iter().try_fold(text, |rest, part| rest.split_once(part).map(|(_, rest)| rest));
    rest.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str, end: End) -> Result<()> {
        let directory = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let example = Example { name: "example", args: &[], output: &["one", "two"], end };
        example.run(&mut command, &directory.path().join("log"))
    }

    #[test]
    fn an_example_prints_the_expected_output_and_ends_successfully() {
        run("echo one; echo more; echo two >&2", End::Success).unwrap();
        assert!(run("echo two; echo one", End::Success).unwrap_err().to_string().contains("in this order"));
        assert!(run("echo one; echo two; exit 1", End::Success).unwrap_err().to_string().contains("exit status: 1"));
    }

    #[test]
    fn an_example_that_runs_is_terminated() {
        run("echo one; echo two; exec sleep 60", End::Terminated).unwrap();
        run("trap 'echo last; exit 0' TERM; echo one; echo two; while :; do sleep 0.1; done", End::Graceful("last"))
            .unwrap();
        assert!(run("exit 2", End::Terminated).unwrap_err().to_string().starts_with("unexpected end"));
        let error = run("trap 'exit 1' TERM; echo one; echo two; while :; do sleep 0.1; done", End::Graceful("last"));
        assert!(error.unwrap_err().to_string().starts_with("not successful after SIGTERM"));
    }
}
