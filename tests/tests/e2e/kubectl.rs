//! kubectl with the generated CRDs and the sample.

use std::{
    io::Write,
    process::{Output, Stdio},
    sync::Arc,
};

use envtest::ControlPlane;
use kubewright_runtime::{CancellationToken, EventRecorder, EventType, events::EventConfig};
use libtest_mimic::{Failed, Trial};
use logger_client::Clientset;
use serde_json::{Value, json};

use super::{Suite, client, trial};

// Relative to the root of the workspace, in which kubectl runs.
const CRD: &str = "config/crd/bases/example.com_loggers.yaml";
const SAMPLE: &str = "config/samples/example_v2_logger.yaml";
const FIXTURE_CRDS: &str = "tests/fixture/config/crd/bases";

/// Installs every generated CRD with kubectl, and waits until they are established.
pub(super) fn install(control_plane: &ControlPlane) -> Result<(), Failed> {
    let output = kubectl(control_plane, &["apply", "-f", CRD, "-f", FIXTURE_CRDS])?;
    check(!output.contains("Warning"), "the server does not warn", &output)?;
    kubectl(control_plane, &["wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"])?;
    Ok(())
}

pub(super) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    let trial =
        |name: &str, run: fn(&ControlPlane) -> Result<(), Failed>| trial(suite, &format!("kubectl::{name}"), run);
    vec![
        trial("crds_are_structural_and_stored_as_written", crds_are_structural_and_stored_as_written),
        trial("explain_shows_the_doc_comments", explain_shows_the_doc_comments),
        trial("the_sample_is_applied_listed_described_and_scaled", the_sample_is_applied_listed_described_and_scaled),
        trial("the_server_warns_about_deprecated_kinds", the_server_warns_about_deprecated_kinds),
        trial("invalid_samples_are_rejected", invalid_samples_are_rejected),
        trial("misspelt_states_are_rejected", misspelt_states_are_rejected),
        trial("repeated_server_side_dry_runs_are_clean", repeated_server_side_dry_runs_are_clean),
        trial("events_and_describe_show_recorded_events", events_and_describe_show_recorded_events),
    ]
}

fn crds_are_structural_and_stored_as_written(control_plane: &ControlPlane) -> Result<(), Failed> {
    for text in tests::crds() {
        let written: Value = serde_saphyr::from_str(&text)?;
        let name = written["metadata"]["name"].as_str().ok_or("a CRD has a name")?;
        let stored: Value = serde_json::from_str(&kubectl(control_plane, &["get", "crd", name, "-o", "json"])?)?;
        let conditions = stored["status"]["conditions"].as_array().ok_or("a CRD has conditions")?;
        let non_structural = conditions.iter().any(|condition| condition["type"] == "NonStructuralSchema");
        check(!non_structural, "the schema is structural", &stored["status"])?;
        let mut stored = stored["spec"].clone();
        if written["spec"]["conversion"].is_null() {
            let default = stored["conversion"].take();
            check(default == json!({"strategy": "None"}), "the conversion strategy is None", &default)?;
            stored.as_object_mut().ok_or("a spec is an object")?.remove("conversion");
        }
        check(stored == written["spec"], "the stored spec equals the written one", &stored)?;
    }
    Ok(())
}

fn explain_shows_the_doc_comments(control_plane: &ControlPlane) -> Result<(), Failed> {
    let output = kubectl(control_plane, &["explain", "loggers.spec"])?;
    for expected in [
        "The desired state of the Logger.",
        "interval",
        "The interval between two writes, at least one second",
        "-required-",
    ] {
        check(output.contains(expected), expected, &output)?;
    }
    let output = kubectl(control_plane, &["explain", "loggers"])?;
    check(output.contains("A Logger periodically writes user activity to files."), "the docs of the kind", &output)
}

fn the_sample_is_applied_listed_described_and_scaled(control_plane: &ControlPlane) -> Result<(), Failed> {
    let kubectl = |args: &[&str]| kubectl_in(control_plane, "sample", args);
    kubectl(&["create", "namespace", "sample"])?;
    kubectl(&["apply", "-f", SAMPLE])?;
    let status = json!({"status": {"state": "Available", "desiredReplicas": 2, "readyReplicas": 2}}).to_string();
    kubectl(&["patch", "lg", "access", "--subresource=status", "--type=merge", "-p", &status])?;

    let table = kubectl(&["get", "loggers"])?;
    let words = |line: usize| table.lines().nth(line).unwrap_or_default().split_whitespace().collect::<Vec<_>>();
    check(words(0) == ["NAME", "STATE", "READY", "DESIRED", "INTERVAL", "AGE"], "the columns", &table)?;
    check(words(1)[..5] == ["access", "Available", "2", "2", "1m"], "the values", &table)?;
    let all = kubectl(&["get", "all", "-o", "name"])?;
    check(all.contains("logger.example.com/access"), "the category", &all)?;
    let page = kubectl(&["describe", "logger", "access"])?;
    check(page.contains("State:") && page.contains("Available"), "the status is described", &page)?;

    kubectl(&["scale", "logger", "access", "--replicas=5"])?;
    let replicas = kubectl(&["get", "logger", "access", "-o", "jsonpath={.spec.replicas}"])?;
    check(replicas == "5", "scaled to 5", &replicas)
}

fn the_server_warns_about_deprecated_kinds(control_plane: &ControlPlane) -> Result<(), Failed> {
    for (plural, expected) in [
        (
            "benches",
            "Warning: old.example.org/v1 Bench is deprecated in v1.4+, unavailable in v1.10+; use desk.example.org/v1 Table",
        ),
        ("scrolls", "Warning: old.example.org/v1 Scroll is deprecated in v0.9+. Nobody reads scrolls any more."),
        ("tablets", "Warning: old.example.org/v1 Tablet is deprecated"),
    ] {
        let output = kubectl(control_plane, &["get", plural])?;
        check(output.lines().any(|line| line == expected), expected, &output)?;
    }
    let output = kubectl(control_plane, &["get", "tables"])?;
    check(!output.contains("Warning"), "no warning about kinds that are not deprecated", &output)
}

fn invalid_samples_are_rejected(control_plane: &ControlPlane) -> Result<(), Failed> {
    let sample = std::fs::read_to_string(tests::workspace_root().join(SAMPLE))?;
    let idle = rejection(control_plane, &sample.replace("interval: 1m", "interval: 0s"))?;
    check(idle.contains("spec.interval") && idle.contains("must be at least 1s"), "the field", &idle)?;
    let unknown = rejection(control_plane, &sample.replace("interval", "timeInterval"))?;
    check(unknown.contains("spec.timeInterval") || unknown.contains("spec.interval"), "the unknown field", &unknown)
}

/// The status has its own endpoint: a plain apply does not write it.
fn misspelt_states_are_rejected(control_plane: &ControlPlane) -> Result<(), Failed> {
    let kubectl = |args: &[&str]| kubectl_in(control_plane, "misspelt-by-hand", args);
    kubectl(&["create", "namespace", "misspelt-by-hand"])?;
    kubectl(&["apply", "-f", SAMPLE])?;
    let patch = json!({"status": {"state": "Availabel"}}).to_string();
    let error = match kubectl(&["patch", "lg", "access", "--subresource=status", "--type=merge", "-p", &patch]) {
        Ok(output) => return Err(format!("the patch is accepted: {output}").into()),
        Err(failed) => failed.message().unwrap_or_default().to_owned(),
    };
    check(error.contains("status.state") && error.contains("\"Available\""), "the field and its values", &error)
}

fn repeated_server_side_dry_runs_are_clean(control_plane: &ControlPlane) -> Result<(), Failed> {
    for _ in 0..2 {
        let output = kubectl(control_plane, &["apply", "--server-side", "--dry-run=server", "-f", SAMPLE])?;
        check(output.trim() == "logger.example.com/access serverside-applied (server dry run)", "clean", &output)?;
    }
    Ok(())
}

fn events_and_describe_show_recorded_events(control_plane: &ControlPlane) -> Result<(), Failed> {
    let kubectl = |args: &[&str]| kubectl_in(control_plane, "recorded-events", args);
    kubectl(&["create", "namespace", "recorded-events"])?;
    kubectl(&["apply", "-f", SAMPLE])?;
    tokio::runtime::Runtime::new()?.block_on(async {
        let client = client(control_plane).await?;
        let access = Clientset::new(client.clone()).example_v2().loggers("recorded-events").get("access").await?;
        let (recorder, worker) = EventRecorder::new(client, "kubectl-test", EventConfig::default())?;
        for _ in 0..3 {
            recorder.event(&access, EventType::Warning, "FailedMount", "Mounting", "volume `data` does not exist");
        }
        let stop = CancellationToken::new();
        stop.cancel();
        worker.run(stop).await?;
        Ok::<_, Failed>(())
    })?;
    let shown = |line: &str| {
        let words: Vec<_> = line.split_whitespace().collect();
        words.contains(&"Warning") && words.contains(&"FailedMount") && line.contains("volume `data` does not exist")
    };
    let table = kubectl(&["events", "--for", "logger/access"])?;
    check(table.lines().any(|line| shown(line) && line.contains("Logger/access")), "the event", &table)?;
    check(table.contains("(x3 over"), "the count of the series", &table)?;
    let page = kubectl(&["describe", "logger", "access"])?;
    check(page.lines().any(|line| shown(line) && line.contains("kubectl-test")), "the event and its reporter", &page)
}

fn kubectl_in(control_plane: &ControlPlane, namespace: &str, args: &[&str]) -> Result<String, Failed> {
    kubectl(control_plane, &[&["--namespace", namespace], args].concat())
}

/// Runs kubectl in the root of the workspace, and returns its output on both streams.
fn kubectl(control_plane: &ControlPlane, args: &[&str]) -> Result<String, Failed> {
    let output = control_plane.kubectl().args(args).current_dir(tests::workspace_root()).output()?;
    let text = text(&output);
    if output.status.success() { Ok(text) } else { Err(format!("kubectl {}: {text}", args.join(" ")).into()) }
}

/// Applies a manifest that must be rejected and returns kubectl's output.
fn rejection(control_plane: &ControlPlane, manifest: &str) -> Result<String, Failed> {
    let mut apply = control_plane.kubectl();
    apply.args(["apply", "-f", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut apply = apply.spawn()?;
    apply.stdin.take().ok_or("stdin is piped")?.write_all(manifest.as_bytes())?;
    let output = apply.wait_with_output()?;
    check(!output.status.success(), "the manifest is rejected", &manifest)?;
    Ok(text(&output))
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn check(holds: bool, what: &str, found: &dyn std::fmt::Display) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(format!("expected: {what}\n{found}").into()) }
}
