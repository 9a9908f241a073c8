//! The Logger scenario as users start it: on this machine, interrupted, and on a cluster.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use demo::{LocalCluster, LocalClusterConfig, local_cluster::AGENT_IMAGE};
use logger_client::Clientset;
use tests::{
    process::{Process, Signal, processes_with, wait_until},
    program,
};

/// Asserts that lines which contain these texts were printed in this order.
fn assert_printed(output: &Output, expected: &[&str]) {
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    assert!(!printed.contains('\u{1b}'), "the output contains no colours without a terminal: {printed}");
    let mut rest = &*printed;
    for expected in expected {
        let at = rest.find(expected).unwrap_or_else(|| panic!("missing or out of order: {expected}\n{printed}"));
        rest = &rest[at..];
    }
}

#[test]
fn the_scenario_runs_on_this_machine() {
    let directory = tempfile::tempdir().unwrap();
    let mut demo = Command::new(program("demo"));
    demo.arg("--agent").arg(program("logger-agent")).arg("--directory").arg(directory.path());
    let output = demo.env("KUBECONFIG", "/nowhere").output().unwrap();
    let expected = [
        "[1/11] A Logger with 2 agents is created.",
        "ADDED default/activity",
        "Deployment logger-activity",
        "PodDisruptionBudget logger-activity",
        "on node zone-",
        "MODIFIED default/activity  Available, 2 of 2",
        "[5/11] Each agent records its activity.",
        "is killed.",
        "is not ready",
        "[7/11] The survivor continues.",
        "the Logger was available all the time",
        "[9/11] No record is missing in any file.",
        "0 findings",
        "is ready",
        "Available, 3 of 3",
        "DELETED default/activity",
        "no Pod and no file remains",
        "Done.",
    ];
    assert_printed(&output, &expected);
    assert_eq!(processes_with(directory.path()).unwrap(), Vec::<u32>::new());
}

#[test]
fn an_interrupted_scenario_leaves_no_process() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cluster");
    let mut demo = Command::new(program("demo"));
    demo.arg("--agent").arg(program("logger-agent")).arg("--directory").arg(&path);
    let demo = Process::start("demo", &mut demo, directory.path().join("log")).unwrap();
    wait_until("agents", || processes_with(&path).map(|agents| !agents.is_empty())).unwrap();
    demo.signal(Signal::TERM).unwrap();
    let exit = demo.wait().unwrap();
    assert_eq!((exit.code, exit.errors.as_str()), (Some(1), "error: interrupted\n"));
    assert_eq!(processes_with(&path).unwrap(), Vec::<u32>::new());
}

/// The nodes are those of a local cluster without an operator.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_scenario_on_a_cluster_removes_what_it_creates() {
    let directory = tempfile::tempdir().unwrap();
    let config = LocalClusterConfig::new(program("logger-agent"), directory.path());
    let mut cluster = LocalCluster::start(config).await.unwrap();
    cluster.stop_operator().await.unwrap();
    let mut demo = tokio::process::Command::new(program("demo"));
    demo.arg("--kubeconfig").arg(cluster.kubeconfig()).args(["--image", AGENT_IMAGE]).kill_on_drop(true);
    let expected = [
        "CRD:        loggers.example.com exists",
        "[1/9] A Logger with 2 agents is created.",
        "MODIFIED default/activity  Available, 2 of 2",
        "is deleted.",
        "the Logger was available all the time",
        "skipped: the check of the files",
        "Available, 3 of 3",
        "DELETED default/activity",
    ];
    assert_printed(&demo.output().await.unwrap(), &expected);
    let loggers = Clientset::new(cluster.client().clone()).example_v1().loggers("default");
    assert_eq!(loggers.get_opt("activity").await.unwrap(), None);
    assert_eq!(cluster.data_directories(), Vec::<PathBuf>::new());
    cluster.stop().await.unwrap();
}

#[test]
fn unusable_arguments_are_reported() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    let run = |args: &[&Path]| Command::new(program("demo")).args(args).env("KUBECONFIG", "/nowhere").output().unwrap();
    let [agent, directory_flag, kubeconfig, image] =
        ["--agent", "--directory", "--kubeconfig", "--image"].map(Path::new);
    let (missing, below) = (Path::new("/nowhere"), file.join("below"));
    for (args, expected) in [
        (&[agent, missing][..], "error: cannot run the agent /nowhere; build it with `cargo build -p logger-agent`"),
        (&[agent, file.as_path(), directory_flag, below.as_path()][..], "error: cannot write "),
        (&[kubeconfig, missing][..], "--image <IMAGE>"),
        (&[kubeconfig, missing, image, Path::new("a")][..], "cannot use the kubeconfig /nowhere"),
    ] {
        let output = run(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && stderr.contains(expected), "{args:?}: {stderr}");
    }
}
