//! The quickstart as users run it, on the real server.

use std::{process::Output, sync::Arc};

use envtest::ControlPlane;
use libtest_mimic::{Failed, Trial};

use super::{Suite, trial};

pub(super) fn trials(suite: &Arc<Suite>) -> Vec<Trial> {
    vec![
        trial(suite, "quickstart::runs_on_the_real_server_and_cleans_up", runs_and_cleans_up),
        trial(suite, "quickstart::does_not_touch_existing_objects", does_not_touch_existing_objects),
    ]
}

fn runs_and_cleans_up(control_plane: &ControlPlane) -> Result<(), Failed> {
    let namespace = "quickstart";
    let created = control_plane.kubectl().args(["create", "namespace", namespace]).output()?;
    assert!(created.status.success());
    let output = quickstart(control_plane, namespace)?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let failed = || format!("{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        return Err(failed().into());
    }
    for expected in [
        "ADDED quickstart/audit",
        "MODIFIED quickstart/audit  Available, 2 of 2",
        "REJECTED",
        "DELETED quickstart/access",
    ] {
        if !printed.contains(expected) {
            return Err(format!("not printed: {expected}\n{}", failed()).into());
        }
    }
    let left = control_plane.kubectl().args(["get", "loggers", "-o", "name", "--namespace", namespace]).output()?;
    assert_eq!(String::from_utf8_lossy(&left.stdout), "", "its Loggers are deleted");
    let crd = control_plane.kubectl().args(["get", "crd", "loggers.example.com"]).output()?;
    assert!(crd.status.success(), "the CRD existed before, so it stays");
    Ok(())
}

fn does_not_touch_existing_objects(control_plane: &ControlPlane) -> Result<(), Failed> {
    let kubectl = |args: &[&str]| control_plane.kubectl().args(["--namespace", "taken"]).args(args).output();
    let sample = tests::workspace_root().join("config/samples/example_v2_logger.yaml");
    let theirs = tempfile::Builder::new().suffix(".yaml").tempfile()?;
    std::fs::write(&theirs, std::fs::read_to_string(sample)?.replace("name: access", "name: audit"))?;
    kubectl(&["create", "namespace", "taken"])?;
    kubectl(&["apply", "-f", &theirs.path().display().to_string()])?;
    let output = quickstart(control_plane, "taken")?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && stderr.contains("taken/audit already exists"), "{stderr}");
    let left = kubectl(&["get", "loggers", "-o", "name"])?;
    assert_eq!(String::from_utf8_lossy(&left.stdout), "logger.example.com/audit\n");
    Ok(())
}

fn quickstart(control_plane: &ControlPlane, namespace: &str) -> Result<Output, Failed> {
    let kubeconfig = control_plane.kubeconfig().to_str().ok_or("a path in UTF-8")?;
    Ok(tests::quickstart(&["--kubeconfig", kubeconfig, "--namespace", namespace]))
}
