//! What people type: kubectl with the generated CRDs and the sample.

use std::io::Write;
use std::process::{Output, Stdio};
use std::sync::Arc;

use envtest::ControlPlane;
use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

use super::trial;

const CRD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/crd/bases/example.com_loggers.yaml");
const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/samples/example_v1_logger.yaml");
const FIXTURE_CRDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixture/config/crd/bases");

/// Installs every generated CRD as a user does, and waits until they are established.
pub(super) fn install(control_plane: &ControlPlane) -> Result<(), Failed> {
    let said = kubectl(control_plane, &["apply", "-f", CRD, "-f", FIXTURE_CRDS])?;
    check(!said.contains("Warning"), "the server warns of nothing", &said)?;
    kubectl(control_plane, &["wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"])?;
    Ok(())
}

pub(super) fn trials(control_plane: &Arc<ControlPlane>) -> Vec<Trial> {
    let trial = |name: &str, run: fn(&ControlPlane) -> Result<(), Failed>| {
        trial(control_plane, &format!("kubectl::{name}"), run)
    };
    vec![
        trial("crds_are_structural_and_stored_as_written", crds_are_structural_and_stored_as_written),
        trial("explain_shows_our_docs", explain_shows_our_docs),
        trial("sample_is_applied_shown_described_and_scaled", sample_is_applied_shown_described_and_scaled),
        trial("the_server_warns_of_deprecated_kinds", the_server_warns_of_deprecated_kinds),
        trial("broken_samples_are_refused", broken_samples_are_refused),
        trial("misspelt_states_are_refused", misspelt_states_are_refused),
        trial("server_side_dry_run_is_clean_twice", server_side_dry_run_is_clean_twice),
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
        // What the server fills in.
        check(stored["conversion"] == json!({"strategy": "None"}), "nothing is converted", &stored["conversion"])?;
        stored.as_object_mut().ok_or("a spec is an object")?.remove("conversion");
        check(stored == written["spec"], "the stored spec is the written one", &stored)?;
    }
    Ok(())
}

fn explain_shows_our_docs(control_plane: &ControlPlane) -> Result<(), Failed> {
    let said = kubectl(control_plane, &["explain", "loggers.spec"])?;
    for expected in ["What is wanted.", "timeInterval", "Seconds between two writes; at least 1.", "-required-"] {
        check(said.contains(expected), expected, &said)?;
    }
    let said = kubectl(control_plane, &["explain", "loggers"])?;
    check(said.contains("A Logger periodically writes user activity to files."), "docs of the kind", &said)
}

fn sample_is_applied_shown_described_and_scaled(control_plane: &ControlPlane) -> Result<(), Failed> {
    let kubectl = |args: &[&str]| kubectl_in(control_plane, "sample", args);
    kubectl(&["create", "namespace", "sample"])?;
    kubectl(&["apply", "-f", SAMPLE])?;
    let status = json!({"status": {"state": "Available", "replicas": 2, "selector": "logger=web"}}).to_string();
    kubectl(&["patch", "lg", "web", "--subresource=status", "--type=merge", "-p", &status])?;

    let table = kubectl(&["get", "loggers"])?;
    let words = |line: usize| table.lines().nth(line).unwrap_or_default().split_whitespace().collect::<Vec<_>>();
    check(words(0) == ["NAME", "STATE", "DESIRED", "INTERVAL", "AGE"], "the columns", &table)?;
    check(words(1)[..4] == ["web", "Available", "2", "60"], "the values", &table)?;
    let all = kubectl(&["get", "all", "-o", "name"])?;
    check(all.contains("logger.example.com/web"), "the category", &all)?;
    let page = kubectl(&["describe", "logger", "web"])?;
    check(page.contains("State:") && page.contains("Available"), "the status is described", &page)?;

    kubectl(&["scale", "logger", "web", "--replicas=5"])?;
    let replicas = kubectl(&["get", "logger", "web", "-o", "jsonpath={.spec.replicas}"])?;
    check(replicas == "5", "scaled to 5", &replicas)
}

fn the_server_warns_of_deprecated_kinds(control_plane: &ControlPlane) -> Result<(), Failed> {
    for (plural, expected) in [
        (
            "benches",
            "Warning: old.example.org/v1 Bench is deprecated in v1.4+, unavailable in v1.10+; use desk.example.org/v1 Table",
        ),
        ("scrolls", "Warning: old.example.org/v1 Scroll is deprecated in v0.9+. Nobody reads scrolls any more."),
        ("tablets", "Warning: old.example.org/v1 Tablet is deprecated"),
    ] {
        let said = kubectl(control_plane, &["get", plural])?;
        check(said.lines().any(|line| line == expected), expected, &said)?;
    }
    let said = kubectl(control_plane, &["get", "tables"])?;
    check(!said.contains("Warning"), "no warning of what is not deprecated", &said)
}

fn broken_samples_are_refused(control_plane: &ControlPlane) -> Result<(), Failed> {
    let sample = std::fs::read_to_string(SAMPLE)?;
    let idle = refusal(control_plane, &sample.replace("timeInterval: 60", "timeInterval: 0"))?;
    check(idle.contains("spec.timeInterval") && idle.contains("greater than or equal to 1"), "the field", &idle)?;
    let unknown = refusal(control_plane, &sample.replace("timeInterval", "timeinterval"))?;
    check(unknown.contains("spec.timeinterval") || unknown.contains("spec.timeInterval"), "the unknown field", &unknown)
}

/// The status has its own endpoint: what a plain apply says of it the server passes over.
fn misspelt_states_are_refused(control_plane: &ControlPlane) -> Result<(), Failed> {
    let kubectl = |args: &[&str]| kubectl_in(control_plane, "misspelt-by-hand", args);
    kubectl(&["create", "namespace", "misspelt-by-hand"])?;
    kubectl(&["apply", "-f", SAMPLE])?;
    let patch = json!({"status": {"state": "Availabel"}}).to_string();
    let said = match kubectl(&["patch", "lg", "web", "--subresource=status", "--type=merge", "-p", &patch]) {
        Ok(said) => return Err(format!("it is taken: {said}").into()),
        Err(failed) => failed.message().unwrap_or_default().to_owned(),
    };
    check(said.contains("status.state") && said.contains("\"Available\""), "the field and its values", &said)
}

fn server_side_dry_run_is_clean_twice(control_plane: &ControlPlane) -> Result<(), Failed> {
    for _ in 0..2 {
        let said = kubectl(control_plane, &["apply", "--server-side", "--dry-run=server", "-f", SAMPLE])?;
        check(said.trim() == "logger.example.com/web serverside-applied (server dry run)", "clean", &said)?;
    }
    Ok(())
}

fn kubectl_in(control_plane: &ControlPlane, namespace: &str, args: &[&str]) -> Result<String, Failed> {
    kubectl(control_plane, &[&["--namespace", namespace], args].concat())
}

/// Runs kubectl and gives what it said, on both streams.
fn kubectl(control_plane: &ControlPlane, args: &[&str]) -> Result<String, Failed> {
    let output = control_plane.kubectl().args(args).output()?;
    let said = said(&output);
    if output.status.success() { Ok(said) } else { Err(format!("kubectl {}: {said}", args.join(" ")).into()) }
}

/// What kubectl says to a manifest that it must not accept.
fn refusal(control_plane: &ControlPlane, manifest: &str) -> Result<String, Failed> {
    let mut apply = control_plane.kubectl();
    apply.args(["apply", "-f", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut apply = apply.spawn()?;
    apply.stdin.take().ok_or("stdin is piped")?.write_all(manifest.as_bytes())?;
    let output = apply.wait_with_output()?;
    check(!output.status.success(), "it is refused", &manifest)?;
    Ok(said(&output))
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn check(holds: bool, what: &str, found: &dyn std::fmt::Display) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(format!("not so: {what}\n{found}").into()) }
}
