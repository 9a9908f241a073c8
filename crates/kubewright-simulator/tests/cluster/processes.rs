//! Containers as local processes, in real time.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use k8s_openapi::api::{core::v1::Pod, events::v1::Event};
use kube::{ResourceExt, api::DeleteParams};
use kubewright_simulator::{Processes, Runtime};
use serde_json::{Value, json};

use crate::fixture::{Fixture, is_ready, waiting_reason};

/// Records its start and its end, and continues until SIGTERM.
const SCRIPT: &str = r#"
trap 'echo "$POD_NAME stopped" >> "$OUT"; exit 0' TERM
echo "$POD_NAME started on $NODE_NAME with $1" >> "$OUT"
while true; do sleep 0.05; done
"#;

async fn start(directory: &Path) -> Fixture {
    let runtime = Processes::new(directory).program("script:1", ["sh", "-c", SCRIPT, "script"]);
    Fixture::start(&["a-1"], |cluster| cluster.runtime(Runtime::Processes(runtime)).zone("a", 1)).await
}

fn field(name: &str, path: &str) -> Value {
    json!({"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}})
}

#[tokio::test]
async fn a_process_runs_with_its_environment_until_sigterm() {
    let directory = tempfile::tempdir().unwrap();
    let fixture = start(directory.path()).await;
    let container = json!({
        "name": "main", "image": "script:1", "args": ["$(GREETING)"],
        "env": [
            field("POD_NAME", "metadata.name"), field("NODE_NAME", "spec.nodeName"),
            {"name": "GREETING", "value": "hello"}, {"name": "OUT", "value": "/var/out/log"},
        ],
        "volumeMounts": [{"name": "out", "mountPath": "/var/out"}, {"name": "scratch", "mountPath": "/scratch"}],
        "readinessProbe": {"exec": {"command": ["test", "-s", "/var/out/log"]}, "periodSeconds": 1},
    });
    let volumes = json!([{"name": "out", "hostPath": {"path": "/srv/out"}}, {"name": "scratch", "emptyDir": {}}]);
    let pod = json!({"metadata": {"name": "one"}, "spec": {"containers": [container], "volumes": volumes}});
    let pod: Pod = fixture.create(pod).await;
    fixture.wait_for::<Pod>("the process is ready", |pods| pods.iter().any(|pod| is_ready(pod))).await;
    let log = directory.path().join("a-1/host/srv/out/log");
    assert_eq!(fs::read_to_string(&log).unwrap(), "one started on a-1 with hello\n");
    let pod_directory = directory.path().join(format!("a-1/pods/default_one_{}", pod.uid().unwrap()));
    assert!(pod_directory.join("volumes/scratch").is_dir() && pod_directory.join("main/0.log").is_file());
    fixture.api::<Pod>().delete("one", &DeleteParams::default()).await.unwrap();
    fixture.wait_for::<Pod>("the pod is deleted", <[Arc<Pod>]>::is_empty).await;
    assert!(fs::read_to_string(&log).unwrap().ends_with("one stopped\n"));
    fixture.stop().await;
    assert!(!pod_directory.exists());
}

#[tokio::test]
async fn a_process_that_ignores_sigterm_is_killed_after_the_grace_period() {
    let directory = tempfile::tempdir().unwrap();
    let fixture = start(directory.path()).await;
    let command = ["sh", "-c", "trap '' TERM; while true; do sleep 0.05; done"];
    let spec = json!({
        "terminationGracePeriodSeconds": 1, "containers": [{"name": "main", "image": "any", "command": command}],
    });
    fixture.create::<Pod>(json!({"metadata": {"name": "one"}, "spec": spec})).await;
    fixture.wait_for::<Pod>("the process runs", |pods| pods.iter().any(|pod| is_ready(pod))).await;
    fixture.api::<Pod>().delete("one", &DeleteParams::default()).await.unwrap();
    fixture.wait_for::<Pod>("the pod is deleted", <[Arc<Pod>]>::is_empty).await;
    fixture.stop().await;
}

#[tokio::test]
async fn a_process_that_fails_is_restarted_with_a_back_off() {
    let directory = tempfile::tempdir().unwrap();
    let fixture = start(directory.path()).await;
    let container = json!({
        "name": "main", "image": "any", "command": ["sh", "-c", "echo failed; exit 7"],
        "terminationMessagePolicy": "FallbackToLogsOnError",
    });
    let pod: Pod = fixture.create(json!({"metadata": {"name": "one"}, "spec": {"containers": [container]}})).await;
    let pods = fixture.wait_for::<Pod>("a back-off", |pods| {
        pods.iter().any(|pod| waiting_reason(pod).as_deref() == Some("CrashLoopBackOff"))
    });
    let status = pods.await[0].status.clone().unwrap().container_statuses.unwrap().remove(0);
    let last = status.last_state.and_then(|state| state.terminated).unwrap();
    assert_eq!((status.restart_count, last.exit_code, last.message.as_deref()), (1, 7, Some("failed")));
    let logs = directory.path().join(format!("a-1/pods/default_one_{}/main", pod.uid().unwrap()));
    for log in ["0.log", "1.log"] {
        assert_eq!(fs::read_to_string(logs.join(log)).unwrap(), "failed\n");
    }
    fixture.stop().await;
}

#[tokio::test]
async fn an_unknown_image_cannot_be_pulled() {
    let directory = tempfile::tempdir().unwrap();
    let fixture = start(directory.path()).await;
    let container = json!({"name": "main", "image": "missing:1"});
    fixture.create::<Pod>(json!({"metadata": {"name": "one"}, "spec": {"containers": [container]}})).await;
    let pull = |pods: &[Arc<Pod>]| pods.iter().any(|pod| waiting_reason(pod).as_deref() == Some("ErrImagePull"));
    fixture.wait_for::<Pod>("a failed pull", pull).await;
    fixture.stop().await;
}

#[tokio::test]
async fn the_processes_of_a_killed_node_end_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let fixture = start(directory.path()).await;
    // Kubernetes replaces `$$` by `$`.
    let command = json!(["sh", "-c", "echo $$$$ > /out/pid; exec sleep 3600"]);
    let container = json!({
        "name": "main", "image": "any", "command": command, "volumeMounts": [{"name": "out", "mountPath": "/out"}],
        "readinessProbe": {"exec": {"command": ["test", "-s", "/out/pid"]}, "periodSeconds": 1},
    });
    let spec = json!({"containers": [container], "volumes": [{"name": "out", "hostPath": {"path": "/out"}}]});
    fixture.create::<Pod>(json!({"metadata": {"name": "one"}, "spec": spec})).await;
    fixture.wait_for::<Pod>("the process runs", |pods| pods.iter().any(|pod| is_ready(pod))).await;
    let pid = fs::read_to_string(directory.path().join("a-1/host/out/pid")).unwrap();
    assert!(process(&pid).exists());
    fixture.cluster.kill_node("a-1").await.unwrap();
    has_ended(&process(&pid)).await;
    fixture.stop().await;
}

/// Returns the directory of a process.
fn process(pid: &str) -> PathBuf {
    Path::new("/proc").join(pid.trim())
}

/// Waits until a process has ended.
async fn has_ended(process: &Path) {
    // A killed process remains as a zombie until it is waited for.
    let ended = async {
        while fs::read_to_string(process.join("stat")).is_ok_and(|stat| !stat.contains(") Z ")) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), ended).await.unwrap();
}

/// Returns a pod with the volume `/out`, whose command or probe writes a process identifier to the file `pid` in it.
fn pod_with_pid(command: &Value, probe: &Value) -> Value {
    let container = json!({
        "name": "main", "image": "any", "command": command, "readinessProbe": probe,
        "volumeMounts": [{"name": "out", "mountPath": "/out"}],
    });
    let spec = json!({"containers": [container], "volumes": [{"name": "out", "hostPath": {"path": "/out"}}]});
    json!({"metadata": {"name": "one"}, "spec": spec})
}

#[tokio::test]
async fn processes_are_killed_when_the_cluster_stops() {
    let directory = tempfile::tempdir().unwrap();
    let fixture = start(directory.path()).await;
    let command = json!(["sh", "-c", "trap '' TERM; sleep 3600 & echo $! > /out/pid; wait"]);
    let probe = json!({"exec": {"command": ["test", "-s", "/out/pid"]}, "periodSeconds": 1});
    fixture.create::<Pod>(pod_with_pid(&command, &probe)).await;
    fixture.wait_for::<Pod>("the process runs", |pods| pods.iter().any(|pod| is_ready(pod))).await;
    let pid = fs::read_to_string(directory.path().join("a-1/host/out/pid")).unwrap();
    assert!(process(&pid).exists());
    fixture.stop().await;
    has_ended(&process(&pid)).await;
}

#[tokio::test]
async fn the_processes_of_a_probe_are_killed_after_its_timeout() {
    let directory = tempfile::tempdir().unwrap();
    let fixture = start(directory.path()).await;
    let script = "test -s /out/pid && exit 0; sleep 3600 & echo $! > /out/pid; wait";
    let probe = json!({"exec": {"command": ["sh", "-c", script]}, "timeoutSeconds": 1, "periodSeconds": 1});
    fixture.create::<Pod>(pod_with_pid(&json!(["sleep", "3600"]), &probe)).await;
    fixture.wait_for::<Pod>("the second probe succeeds", |pods| pods.iter().any(|pod| is_ready(pod))).await;
    let pid = fs::read_to_string(directory.path().join("a-1/host/out/pid")).unwrap();
    has_ended(&process(&pid)).await;
    fixture.stop().await;
}

#[tokio::test]
async fn a_probe_with_https_fails_with_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    let fixture = start(directory.path()).await;
    let probe = json!({"httpGet": {"port": 8443, "scheme": "HTTPS"}, "periodSeconds": 1});
    let container = json!({"name": "main", "image": "any", "command": ["sleep", "3600"], "readinessProbe": probe});
    fixture.create::<Pod>(json!({"metadata": {"name": "one"}, "spec": {"containers": [container]}})).await;
    let is_rejected = |event: &Arc<Event>| event.note.as_ref().is_some_and(|note| note.contains("HTTPS"));
    fixture.wait_for::<Event>("the reason", |events| events.iter().any(is_rejected)).await;
    fixture.stop().await;
}
