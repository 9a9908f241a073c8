//! Bad input: each case has a condition and an event that name the cause, acknowledged records remain, and another
//! Logger is not affected, which is observed throughout.

use std::{
    fs::{self, OpenOptions, Permissions},
    io::Write,
    net::SocketAddr,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use http::StatusCode;
use k8s_openapi::api::{core::v1::Pod, events::v1::Event};
use kube::{
    ResourceExt,
    api::{DeleteParams, ListParams, PostParams},
};
use kubewright_core::Conditions;
use libtest_mimic::Trial;
use logger_agent::{Draft, Source, record, segment};
use logger_operator::{
    names::Names,
    status::{AVAILABLE, DEGRADED},
};
use logger_types::v2::Logger;
use serde_json::json;
use tests::{
    availability::{Error, Observer, observer::Target},
    http_client::{get, post_activity},
};
use tokio::process::Command;

use super::{
    fixture::Fixture,
    loggers::{MISSING_IMAGE, NAMESPACE, container, wait, waiting_reason},
    segments::Segments,
    trial,
};

/// The logs whose agents have no writable directory, and a small file system.
const UNWRITABLE: &str = "unwritable";
const FULL: &str = "full";
/// The number of agents of the Logger that is not affected.
const AGENTS: usize = 2;
/// How long an agent can take to respond.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long agents can take to start on a busy host.
const START: Duration = Duration::from_secs(120);
/// How long a drain is tried that a budget does not allow.
const DRAIN: Duration = Duration::from_secs(12);

pub(super) fn trials() -> Vec<Trial> {
    vec![trial("bad_input::is_reported_and_affects_no_other_logger", run)]
}

async fn run() -> Result<(), Error> {
    let mut fixture = Fixture::start(write_program).await?;
    let names = fixture.loggers.create("audit", 2).await?;
    let target = Target { namespace: NAMESPACE.to_owned(), selector: names.selector(), are_processes: true };
    let observer = Observer::start(fixture.client(), target);
    wait_for_agents(&observer).await?;
    observer.promise(true);
    let (name, interval, replicas) = (invalid_name(&fixture), interval_0(&fixture), replicas_0(&fixture));
    tokio::try_join!(name, interval, replicas, unwritable_disk(&fixture), full_disk(&fixture))?;
    observer.check()?;
    image_that_never_starts(&mut fixture).await?;
    observer.check()?;
    corrupt_segment_and_clock_set_back(&fixture, &names).await?;
    wait_for_agents(&observer).await?;
    blocking_budget(&fixture, &names).await?;
    wait_for_agents(&observer).await?;
    fixture.wait_for_files(AGENTS).await?;
    fixture.verify(|_| true).await?;
    fixture.stop().await
}

/// Waits until the agents of the Logger that is not affected are ready, and checks the invariant.
async fn wait_for_agents(observer: &Observer) -> Result<(), Error> {
    observer.wait_for("the agents are ready", START, |observed| observed.ready() >= AGENTS).await?;
    observer.check()
}

/// Writes the program of the agents: a script that selects a failure by the name of the log.
///
/// A full disk is a file system of 64 KiB in a mount namespace of the agent. Its process id and its directory are
/// written to a file.
fn write_program(agent: &Path, directory: &Path) -> Result<PathBuf, Error> {
    let (agent, program) = (agent.display(), directory.join("agent.sh"));
    let pid = directory.join("$POD_NAME.pid");
    let mount = "mount -t tmpfs -o size=64k tmpfs \"$LOGGER_DIRECTORY\"";
    let script = format!(
        r#"#!/bin/sh
export PID_FILE="{pid}"
case "$LOGGER_NAME" in
{UNWRITABLE}) export LOGGER_DIRECTORY=/proc ;;
{FULL}) exec unshare --user --map-root-user --mount sh -c '{mount} && echo "$$ $LOGGER_DIRECTORY" > "$PID_FILE" && exec "$0" "$@"' "{agent}" "$@" ;;
esac
exec "{agent}" "$@"
"#,
        pid = pid.display(),
    );
    fs::write(&program, script)?;
    fs::set_permissions(&program, Permissions::from_mode(0o755))?;
    Ok(program)
}

async fn invalid_name(fixture: &Fixture) -> Result<(), Error> {
    fixture.loggers.create_with("invalid-name", "../../etc/passwd", 2).await?;
    let logger = wait_for_condition(fixture, "invalid-name", DEGRADED, "True", "InvalidName").await?;
    assert_eq!(status(&logger, DEGRADED).map(|(_, message)| message.contains("../../etc/passwd")), Some(true));
    wait_for_event(fixture, "invalid-name", "InvalidName").await
}

/// The API server rejects it.
async fn interval_0(fixture: &Fixture) -> Result<(), Error> {
    let mut logger = tests::logger("interval-0");
    logger.spec.interval = "0s".to_owned();
    match fixture.loggers.api::<Logger>().create(&PostParams::default(), &logger).await {
        Err(kube::Error::Api(rejection)) if rejection.message.contains("spec.interval") => Ok(()),
        created => Err(format!("expected a rejection: {created:?}").into()),
    }
}

async fn replicas_0(fixture: &Fixture) -> Result<(), Error> {
    let names = fixture.loggers.create("replicas-0", 0).await?;
    wait_for_condition(fixture, names.logger(), DEGRADED, "True", "NoReplicas").await?;
    wait_for_condition(fixture, names.logger(), AVAILABLE, "False", "NoReplicas").await?;
    wait_for_event(fixture, names.logger(), "NoReplicas").await?;
    fixture.loggers.patch(names.logger(), json!({"replicas": 2})).await?;
    wait_for_condition(fixture, names.logger(), DEGRADED, "False", "AsDesired").await?;
    delete(fixture, &names).await
}

async fn unwritable_disk(fixture: &Fixture) -> Result<(), Error> {
    let names = fixture.loggers.create(UNWRITABLE, 2).await?;
    let logger = wait_for_condition(fixture, names.logger(), DEGRADED, "True", "AgentCrashes").await?;
    let (_, message) = status(&logger, DEGRADED).unwrap_or_default();
    assert!(message.contains("cannot write to the directory `/proc`"), "{message}");
    wait_for_condition(fixture, names.logger(), AVAILABLE, "False", "AgentCrashes").await?;
    wait_for_event(fixture, names.logger(), "AgentCrashes").await?;
    delete(fixture, &names).await
}

/// A full disk without a closed segment: records are rejected, and the acknowledged ones remain.
async fn full_disk(fixture: &Fixture) -> Result<(), Error> {
    let is_supported = Command::new("unshare").args(["--user", "--map-root-user", "--mount", "true"]).status().await;
    if !is_supported.is_ok_and(|status| status.success()) {
        eprintln!(
            "SKIPPED bad_input (full disk): `unshare --user --mount` is not permitted; allow user namespaces without \
             privileges"
        );
        return Ok(());
    }
    let names = fixture.loggers.create(FULL, 1).await?;
    let pod = fixture.loggers.wait_for_agent(&names, "the agent is ready", is_ready).await?;
    let address = address(&pod)?;
    let directory = mounted_directory(&fixture.directory().join(format!("{}.pid", pod.name_any())))?;
    let ballast = directory.join("ballast");
    fill(&ballast)?;
    let mut acknowledged = Vec::new();
    // What is left of the last page of the segment is filled by smaller and smaller records.
    for size in [2000, 200, 0] {
        loop {
            let id = format!("full-{}", acknowledged.len());
            let body = json!({"text": "x".repeat(size)}).to_string();
            match post_activity(address, &id, body, TIMEOUT).await? {
                (StatusCode::OK, _) => acknowledged.push(id),
                (StatusCode::SERVICE_UNAVAILABLE, _) => break,
                (code, text) => return Err(format!("unexpected response {code}: {text}").into()),
            }
        }
    }
    let logger = wait_for_condition(fixture, names.logger(), DEGRADED, "True", "RecordsNotDurable").await?;
    let (_, message) = status(&logger, DEGRADED).unwrap_or_default();
    // "No space left on device", or "no storage space" after a part of a record was written.
    assert!(message.contains("space"), "{message}");
    wait_for_condition(fixture, names.logger(), AVAILABLE, "False", "RecordsNotDurable").await?;
    wait_for_event(fixture, names.logger(), "RecordsNotDurable").await?;
    fs::remove_file(&ballast)?;
    wait_for_condition(fixture, names.logger(), AVAILABLE, "True", "AgentsReady").await?;
    let (code, text) = post_activity(address, "later", "{}".to_owned(), TIMEOUT).await?;
    assert_eq!(code, StatusCode::OK, "{text}");
    acknowledged.push("later".to_owned());
    assert_in_files(&directory, &acknowledged)?;
    delete(fixture, &names).await
}

async fn image_that_never_starts(fixture: &mut Fixture) -> Result<(), Error> {
    let image = fixture.cluster.operator_options().agent_image.clone();
    fixture.set_image(MISSING_IMAGE).await?;
    let names = fixture.loggers.create("bad-image", 2).await?;
    wait_for_condition(fixture, names.logger(), AVAILABLE, "False", "ImageUnavailable").await?;
    wait_for_condition(fixture, names.logger(), DEGRADED, "True", "ImageUnavailable").await?;
    wait_for_event(fixture, names.logger(), "ImageUnavailable").await?;
    // The rollout of the other Logger does not continue.
    wait_for_condition(fixture, "audit", DEGRADED, "True", "ImageUnavailable").await?;
    wait_for_condition(fixture, "audit", AVAILABLE, "True", "AgentsReady").await?;
    fixture.set_image(&image).await?;
    wait_for_condition(fixture, names.logger(), DEGRADED, "False", "AsDesired").await?;
    wait_for_condition(fixture, "audit", DEGRADED, "False", "AsDesired").await?;
    delete(fixture, &names).await
}

/// The segment of an agent is changed while its node has no power: a record is corrupt, and the last one is from the
/// future, as after a clock that was set back.
async fn corrupt_segment_and_clock_set_back(fixture: &Fixture, audit: &Names) -> Result<(), Error> {
    let names = fixture.loggers.create("corrupt", 1).await?;
    let pod = fixture.loggers.wait_for_agent(&names, "the agent is ready", is_ready).await?;
    let address = address(&pod)?;
    let mut acknowledged = Vec::new();
    for number in 0..3 {
        let id = format!("corrupt-{number}");
        let (code, text) = post_activity(address, &id, "{}".to_owned(), TIMEOUT).await?;
        assert_eq!(code, StatusCode::OK, "{text}");
        acknowledged.push(id);
    }
    // The other Logger survives the loss of the node.
    fixture.loggers.wait_for_rollout(audit).await?;
    let node = pod.spec.as_ref().and_then(|spec| spec.node_name.clone()).ok_or("no node")?;
    fixture.cluster.nodes().kill_node(&node).await?;
    let path = segment_of(fixture, &pod)?;
    corrupt(&path)?;
    fixture.cluster.nodes().restore(&node).await?;
    let is_restarted = |pod: &Pod| is_ready(pod) && container(pod).is_some_and(|status| status.restart_count > 0);
    let restarted = fixture.loggers.wait_for_agent(&names, "the agent is ready after a restart", is_restarted).await?;
    let address = self::address(&restarted)?;
    let (code, text) = post_activity(address, "later", "{}".to_owned(), TIMEOUT).await?;
    assert_eq!(code, StatusCode::OK, "{text}");
    acknowledged.push("later".to_owned());
    // The agent is ready nevertheless.
    let logger = wait_for_condition(fixture, names.logger(), DEGRADED, "True", "CorruptSegment").await?;
    let (_, message) = status(&logger, DEGRADED).unwrap_or_default();
    let file = path.file_name().ok_or("no file name")?.to_string_lossy();
    for expected in [pod.name_any().as_str(), &file, "the clock was set back"] {
        assert!(message.contains(expected), "{expected}: {message}");
    }
    wait_for_event(fixture, names.logger(), "CorruptSegment").await?;
    wait_for_condition(fixture, names.logger(), AVAILABLE, "True", "AgentsReady").await?;
    let (_, metrics) = get(address, "/metrics", TIMEOUT).await?;
    for expected in ["logger_agent_corrupt_lines_total 1\n", "logger_agent_clock_steps_total 1\n"] {
        assert!(metrics.contains(expected), "{expected}: {metrics}");
    }
    let found = records(path.parent().ok_or("no directory")?)?;
    let missing: Vec<_> = acknowledged.iter().filter(|id| !found.contains(id)).collect();
    assert!(missing.is_empty(), "{missing:?} of {found:?}");
    delete(fixture, &names).await
}

/// The nodes of both agents are drained while no other node is schedulable: the budget keeps the second one.
async fn blocking_budget(fixture: &Fixture, names: &Names) -> Result<(), Error> {
    fixture.loggers.wait_for_rollout(names).await?;
    let nodes = fixture.cluster.nodes();
    let pods = fixture.loggers.api::<Pod>().list(&ListParams::default().labels(&names.selector())).await?;
    let current = pods.items.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none());
    let used: Vec<_> = current.filter_map(|pod| pod.spec.as_ref()?.node_name.clone()).collect();
    let all = ["zone-a-1", "zone-a-2", "zone-b-1", "zone-b-2"];
    for node in all.into_iter().filter(|node| !used.iter().any(|used| used == node)) {
        nodes.cordon(node).await?;
    }
    let [first, second] = used.as_slice() else { return Err(format!("expected two nodes: {used:?}").into()) };
    nodes.drain(first, START).await?;
    let error = nodes.drain(second, DRAIN).await.err().ok_or("the budget does not block the drain")?.to_string();
    assert!(error.contains("disruption budget"), "{error}");
    let logger = wait_for_condition(fixture, names.logger(), DEGRADED, "True", "Unschedulable").await?;
    let (_, message) = status(&logger, DEGRADED).unwrap_or_default();
    assert!(message.contains("the disruption budget allows no eviction"), "{message}");
    wait_for_event(fixture, names.logger(), "Unschedulable").await?;
    wait_for_condition(fixture, names.logger(), AVAILABLE, "True", "AgentsReady").await?;
    for node in all {
        nodes.uncordon(node).await?;
    }
    wait_for_condition(fixture, names.logger(), DEGRADED, "False", "AsDesired").await.map(drop)
}

/// Waits until a condition of a Logger has this status and reason.
async fn wait_for_condition(
    fixture: &Fixture,
    name: &str,
    type_: &str,
    expected: &str,
    reason: &str,
) -> Result<Logger, Error> {
    let api = fixture.loggers.api::<Logger>();
    wait(&format!("{type_}={expected} ({reason}) of {name}"), async || {
        let logger = api.get_opt(name).await.ok().flatten();
        Ok(logger.filter(|logger| {
            let conditions = logger.status.as_ref().map(|status| &status.conditions);
            let condition = conditions.and_then(|conditions| conditions.condition(type_));
            condition.is_some_and(|condition| condition.status == expected && condition.reason == reason)
        }))
    })
    .await
}

/// Returns the reason and the message of a condition.
fn status(logger: &Logger, type_: &str) -> Option<(String, String)> {
    let condition = logger.status.as_ref()?.conditions.condition(type_)?;
    Some((condition.reason.clone(), condition.message.clone()))
}

/// Waits until an event about a Logger has this reason.
async fn wait_for_event(fixture: &Fixture, name: &str, reason: &str) -> Result<(), Error> {
    let api = fixture.loggers.api::<Event>();
    wait(&format!("event {reason} of {name}"), async || {
        let events = api.list(&ListParams::default()).await.ok();
        let is_expected = |event: &Event| {
            let is_about = event.regarding.as_ref().is_some_and(|about| about.name.as_deref() == Some(name));
            is_about && event.reason.as_deref() == Some(reason)
        };
        Ok(events.is_some_and(|events| events.items.iter().any(is_expected)).then_some(()))
    })
    .await
}

/// Deletes a Logger, and waits until its agents have ended.
async fn delete(fixture: &Fixture, names: &Names) -> Result<(), Error> {
    fixture.loggers.api::<Logger>().delete(names.logger(), &DeleteParams::default()).await?;
    let (api, params) = (fixture.loggers.api::<Pod>(), ListParams::default().labels(&names.selector()));
    wait(&format!("the agents of {} have ended", names.logger()), async || {
        let pods = api.list(&params).await.ok();
        Ok(pods.is_some_and(|pods| pods.items.is_empty()).then_some(()))
    })
    .await
}

fn is_ready(pod: &Pod) -> bool {
    waiting_reason(pod).is_none() && container(pod).is_some_and(|status| status.ready)
}

/// Returns the address of an agent.
fn address(pod: &Pod) -> Result<SocketAddr, Error> {
    let ip = pod.status.as_ref().and_then(|status| status.pod_ip.as_ref()).ok_or("no address")?;
    Ok(SocketAddr::new(ip.parse()?, 8080))
}

/// Returns the directory of an agent, as it is mounted in its namespace.
fn mounted_directory(pid_file: &Path) -> Result<PathBuf, Error> {
    let text = fs::read_to_string(pid_file)?;
    let (pid, directory) = text.trim_end().split_once(' ').ok_or("no process id")?;
    Ok(PathBuf::from(format!("/proc/{pid}/root{directory}")))
}

/// Writes a file until there is no space left.
fn fill(path: &Path) -> Result<(), Error> {
    let mut file = fs::File::create(path)?;
    loop {
        match file.write(&[0; 512]) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::StorageFull => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Returns the segment of an agent.
fn segment_of(fixture: &Fixture, pod: &Pod) -> Result<PathBuf, Error> {
    let uid = pod.uid().ok_or("no UID")?;
    let mut directories = fixture.cluster.data_directories().into_iter();
    let directory = directories.find(|directory| directory.to_string_lossy().contains(&uid)).ok_or("no files")?;
    let paths = fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
    let mut segments = paths.into_iter().filter(|path| segment::is_segment(path));
    Ok(segments.next().ok_or("no segment")?)
}

/// Changes the first record of a segment, the heartbeat of the start, and appends one from the future.
fn corrupt(path: &Path) -> Result<(), Error> {
    let mut bytes = fs::read(path)?;
    let byte = bytes.get_mut(20).ok_or("an empty segment")?;
    *byte ^= 1;
    // A torn tail would be removed.
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    bytes.truncate(end);
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
    fs::write(path, bytes)?;
    let draft = Draft::new(Source::Activity, None, serde_json::from_str("{}")?);
    let line = record::encode(lines, "2100-01-01T00:00:00Z".parse()?, &draft);
    Ok(OpenOptions::new().append(true).open(path)?.write_all(line.as_bytes())?)
}

/// Fails unless each of these records is in exactly one file of a directory.
fn assert_in_files(directory: &Path, ids: &[String]) -> Result<(), Error> {
    let mut segments = Segments::new(directory);
    let defects = segments.refresh()?;
    assert!(defects.is_empty(), "{defects:?}");
    let wrong: Vec<_> = ids.iter().filter(|id| segments.count(id) != 1).collect();
    assert!(wrong.is_empty(), "not in exactly one file: {wrong:?}");
    Ok(())
}

/// Returns the ids of the valid records of a directory with a corrupt one.
fn records(directory: &Path) -> Result<Vec<String>, Error> {
    let mut segments = Segments::new(directory);
    if segments.refresh()?.is_empty() {
        return Err("the corrupt record is not found".into());
    }
    Ok(segments.ids())
}
