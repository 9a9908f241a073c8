//! The Logger scenario as users start it: on this machine, interrupted, and on a cluster.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Duration,
};

use demo::{LocalCluster, LocalClusterConfig, LocalClusterError, local_cluster::AGENT_IMAGE};
use futures::{AsyncReadExt, StreamExt};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, Client, Config, ResourceExt,
    api::{DeleteParams, LogParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use logger_client::Clientset;
use logger_types::v2::Logger;
use serde_json::json;
use tests::{
    process::{Process, Signal, TIMEOUT, processes_with, wait_until},
    program,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{sleep, timeout},
};

use crate::picture;

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
    picture::assert_shows(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(processes_with(directory.path()).unwrap(), Vec::<u32>::new());
}

#[test]
fn an_interrupted_scenario_leaves_no_process() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cluster");
    let mut demo = Command::new(program("demo"));
    demo.arg("--agent").arg(program("logger-agent")).arg("--directory").arg(&path).env_remove("RUST_LOG");
    let demo = Process::start("demo", &mut demo, directory.path().join("log")).unwrap().with_children();
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
    let loggers = Clientset::new(cluster.client().clone()).example_v2().loggers("default");
    assert_eq!(loggers.get_opt("activity").await.unwrap(), None);
    assert_eq!(cluster.data_directories(), Vec::<PathBuf>::new());
    cluster.stop().await.unwrap();
}

/// The nodes run the commands of Pods as processes of this user, so that other users must not create any.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_local_cluster_serves_the_owner_of_its_kubeconfig_only() {
    let directory = tempfile::tempdir().unwrap();
    let config = LocalClusterConfig::new(program("logger-agent"), directory.path());
    let cluster = LocalCluster::start(config).await.unwrap();
    let mode = fs::metadata(cluster.kubeconfig()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let mut kubeconfig = Kubeconfig::read_from(cluster.kubeconfig()).unwrap();
    kubeconfig.auth_infos.iter_mut().for_each(|user| user.auth_info = None);
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    let pods: Api<Pod> = Api::namespaced(Client::try_from(config).unwrap(), "default");
    let pod = serde_json::from_value(json!({
        "metadata": {"name": "a"}, "spec": {"containers": [{"name": "a", "image": "a", "command": ["true"]}]},
    }));
    match pods.create(&PostParams::default(), &pod.unwrap()).await {
        Err(kube::Error::Api(status)) => assert_eq!(status.code, 401, "{status:?}"),
        other => panic!("{other:?}"),
    }
    let mut plain = TcpStream::connect(cluster.address()).await.unwrap();
    plain.write_all(b"GET /api HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut response = Vec::new();
    // The connection can be reset after the response.
    drop(plain.read_to_end(&mut response).await);
    assert!(response.starts_with(b"HTTP/1.0 400 "), "{}", String::from_utf8_lossy(&response));
    cluster.stop().await.unwrap();
}

/// The removal does not end: the Logger has a finalizer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_signal_ends_the_removal_and_lists_what_may_remain() {
    let directory = tempfile::tempdir().unwrap();
    let config = LocalClusterConfig::new(program("logger-agent"), directory.path().join("cluster"));
    let mut cluster = LocalCluster::start(config).await.unwrap();
    cluster.stop_operator().await.unwrap();
    let loggers: Api<Logger> = Api::namespaced(cluster.client().clone(), "default");
    let mut demo = Command::new(program("demo"));
    demo.arg("--kubeconfig").arg(cluster.kubeconfig()).args(["--image", AGENT_IMAGE]).env_remove("RUST_LOG");
    let demo = Process::start("demo", &mut demo, directory.path().join("log")).unwrap();
    wait_for_logger(&loggers, |_| true).await;
    let patch = Patch::Merge(json!({"metadata": {"finalizers": ["example.com/test"]}}));
    loggers.patch("activity", &PatchParams::default(), &patch).await.unwrap();
    demo.signal(Signal::TERM).unwrap();
    wait_for_logger(&loggers, |logger| logger.metadata.deletion_timestamp.is_some()).await;
    demo.signal(Signal::TERM).unwrap();
    let exit = demo.wait().unwrap();
    assert_eq!(exit.code, Some(1), "{}", exit.errors);
    let expected = "error: interrupted; and afterwards: the Logger default/activity and its Deployment, Service, \
                    PodDisruptionBudget and Pods may remain; ";
    assert!(exit.errors.starts_with(expected) && exit.errors.ends_with(": interrupted\n"), "{}", exit.errors);
    cluster.stop().await.unwrap();
}

/// Waits until the Logger of the scenario exists and meets a condition.
async fn wait_for_logger(loggers: &Api<Logger>, condition: impl Fn(&Logger) -> bool) {
    let met = async {
        while !loggers.get_opt("activity").await.unwrap().is_some_and(|logger| condition(&logger)) {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(TIMEOUT, met).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_cluster_leaves_no_process() {
    let directory = tempfile::tempdir().unwrap();
    let config = LocalClusterConfig::new(program("logger-agent"), directory.path());
    let cluster = LocalCluster::start(config).await.unwrap();
    let loggers = Clientset::new(cluster.client().clone()).example_v2().loggers("default");
    loggers.create(&tests::logger("audit"), &PostParams::default()).await.unwrap();
    wait_until("agents", || processes_with(directory.path()).map(|agents| !agents.is_empty())).unwrap();
    drop(cluster);
    wait_until("their end", || processes_with(directory.path()).map(|agents| agents.is_empty())).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_with_the_directory_of_another_one_continues_with_its_objects() {
    let directory = tempfile::tempdir().unwrap();
    let config = LocalClusterConfig::new(program("logger-agent"), directory.path());
    let cluster = LocalCluster::start(config.clone()).await.unwrap();
    let loggers = Clientset::new(cluster.client().clone()).example_v2().loggers("default");
    let created = loggers.create(&tests::logger("audit"), &PostParams::default()).await.unwrap();
    wait_until("agents", || processes_with(directory.path()).map(|agents| !agents.is_empty())).unwrap();
    cluster.stop().await.unwrap();
    assert_eq!(processes_with(directory.path()).unwrap(), Vec::<u32>::new());

    let started = async {
        loop {
            match LocalCluster::start(config.clone()).await {
                // The connections of the first server can use it for a moment.
                Err(LocalClusterError::DataDirectory(_)) => sleep(Duration::from_millis(20)).await,
                started => break started.unwrap(),
            }
        }
    };
    let cluster = timeout(TIMEOUT, started).await.unwrap();
    let loggers = Clientset::new(cluster.client().clone()).example_v2().loggers("default");
    assert_eq!(loggers.get("audit").await.unwrap().metadata.uid, created.metadata.uid);
    wait_until("agents", || processes_with(directory.path()).map(|agents| !agents.is_empty())).unwrap();
    cluster.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_logs_of_agents_are_read_through_the_api_server() {
    let directory = tempfile::tempdir().unwrap();
    let config = LocalClusterConfig::new(program("logger-agent"), directory.path());
    let cluster = LocalCluster::start(config).await.unwrap();
    let loggers = Clientset::new(cluster.client().clone()).example_v2().loggers("default");
    let mut logger = tests::logger("audit");
    logger.spec.interval = "1s".to_owned();
    loggers.create(&logger, &PostParams::default()).await.unwrap();
    let pods: Api<Pod> = Api::namespaced(cluster.client().clone(), "default");
    let pod = ready_pod(&pods).await;
    let read = async |params: LogParams| pods.logs(&pod, &params).await.map_err(|error| error.to_string());

    let log = read(LogParams::default()).await.unwrap();
    assert!(log.contains("listening on 127."), "{log}");
    let last = LogParams { tail_lines: Some(1), container: Some("agent".to_owned()), ..LogParams::default() };
    assert_eq!(read(last).await.unwrap().lines().count(), 1);
    for (params, expected) in [
        (LogParams { container: Some("web".to_owned()), ..LogParams::default() }, "container web is not valid for pod"),
        (LogParams { previous: true, ..LogParams::default() }, "previous terminated container \"agent\" in pod"),
        (LogParams { timestamps: true, ..LogParams::default() }, "timestamps is not implemented"),
    ] {
        let error = read(params).await.unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    let error = pods.logs("missing", &LogParams::default()).await.unwrap_err();
    assert!(error.to_string().contains("pods \"missing\" not found"), "{error}");

    // A log that is followed ends with its container.
    let params = LogParams { follow: true, ..LogParams::default() };
    let mut followed = Box::pin(pods.log_stream(&pod, &params).await.unwrap());
    loggers.delete("audit", &DeleteParams::default()).await.unwrap();
    let mut log = String::new();
    let ended = timeout(TIMEOUT, followed.read_to_string(&mut log));
    ended.await.unwrap().unwrap();
    assert!(log.contains("listening on 127."), "{log}");
    cluster.stop().await.unwrap();
}

/// Waits until a Pod is ready, and returns its name.
async fn ready_pod(pods: &Api<Pod>) -> String {
    let is_ready = |pod: &Pod| {
        let mut conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
        conditions.any(|condition| condition.type_ == "Ready" && condition.status == "True")
    };
    let params = WatchParams::default();
    let watched = async {
        let mut events = pods.watch(&params, "0").await.unwrap().boxed();
        while let Some(event) = events.next().await {
            if let WatchEvent::Added(pod) | WatchEvent::Modified(pod) = event.unwrap()
                && is_ready(&pod)
            {
                return pod.name_any();
            }
        }
        panic!("the watch ended")
    };
    timeout(TIMEOUT, watched).await.unwrap()
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
