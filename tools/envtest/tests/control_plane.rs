//! A real control plane starts, answers kubectl, and leaves nothing behind.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use envtest::{ControlPlane, find_or_skip};

#[test]
fn a_control_plane_serves_and_leaves_nothing_when_stopped() -> Result<()> {
    let Some(assets) = find_or_skip("envtest")? else {
        return Ok(());
    };
    let control_plane = ControlPlane::start(&assets)?;
    let dir = control_plane.kubeconfig().parent().expect("a file is in a directory").to_owned();
    assert_eq!(processes_of(&dir)?, 2);

    let output = control_plane.kubectl().args(["get", "ns", "default", "-o", "name"]).output()?;
    assert_eq!(String::from_utf8(output.stdout)?, "namespace/default\n");
    let output = control_plane.kubectl().args(["auth", "can-i", "*", "*"]).output()?;
    assert_eq!(String::from_utf8(output.stdout)?, "yes\n");

    control_plane.stop()?;
    assert_eq!(processes_of(&dir)?, 0);
    assert!(!dir.exists());
    Ok(())
}

#[test]
fn a_dropped_control_plane_leaves_nothing() -> Result<()> {
    let Some(assets) = find_or_skip("envtest")? else {
        return Ok(());
    };
    let control_plane = ControlPlane::start(&assets)?;
    let dir = control_plane.kubeconfig().parent().expect("a file is in a directory").to_owned();
    drop(control_plane);
    assert_eq!(processes_of(&dir)?, 0);
    assert!(!dir.exists());
    Ok(())
}

#[test]
fn an_open_watch_does_not_hold_up_the_end() -> Result<()> {
    let Some(assets) = find_or_skip("envtest")? else {
        return Ok(());
    };
    let control_plane = ControlPlane::start(&assets)?;
    let mut watch = control_plane.kubectl();
    watch.args(["get", "--raw", "/api/v1/namespaces?watch=true"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut watch = watch.spawn()?;
    let mut event = String::new();
    BufReader::new(watch.stdout.as_mut().context("stdout is piped")?).read_line(&mut event)?;
    assert!(event.contains("ADDED"), "{event}");

    let since = Instant::now();
    control_plane.stop()?;
    assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
    watch.wait()?;
    Ok(())
}

/// How many processes have the directory in their command line: both servers have.
fn processes_of(dir: &Path) -> Result<usize> {
    let output = Command::new("ps").args(["-A", "-ww", "-o", "args="]).output()?;
    ensure!(output.status.success(), "ps failed");
    let dir = dir.display().to_string();
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter(|line| line.contains(&dir)).count())
}
