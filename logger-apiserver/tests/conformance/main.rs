//! Conformance: each check is a list of requests, which the server in memory must answer as a real kube-apiserver.
//!
//! The checks of a topic are in `topics/<topic>.yaml`, the recorded answers of the real server in
//! `topics/<topic>.answers.json`. A plain run compares the answers of the server in memory and, if there is a control
//! plane, of the real server with the recorded ones. To add a check, write it and record its answers:
//! `CONFORMANCE=record cargo test -p logger-apiserver --test conformance -- [filter]`. Review what was recorded. Known
//! differences of the server in memory are in `differences.yaml`, with their reasons.
//!
//! With `LOGGER_REQUIRE_CONTROL_PLANE=1`, as in CI, a missing control plane is a failure.

mod answers;
mod check;
mod differences;
mod json_diff;
mod normalize;
mod servers;
mod topic;

use std::{
    error::Error,
    process::ExitCode,
    sync::{Arc, Mutex},
};

use envtest::ControlPlane;
use libtest_mimic::{Arguments, Failed, Trial};

use answers::Recorded;
use differences::Differences;
use servers::{InMemory, Real, Server};
use topic::{Check, Topic};

fn main() -> ExitCode {
    envtest::exit_code(run(&Arguments::from_args()))
}

/// How often a check is tried on the real server, each time in another namespace.
const ATTEMPTS: usize = 3;

fn run(args: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let topics = topic::read_all()?;
    if std::env::var_os("CONFORMANCE").is_some_and(|what| what == "record") {
        return record(args, topics);
    }
    let differences = Arc::new(Differences::read(&topics)?);
    let mut trials = Vec::new();
    let control_plane = envtest::find_or_skip("conformance on the real server")?;
    let control_plane = control_plane.as_ref().map(ControlPlane::start).transpose()?;
    let real = control_plane.as_ref().map(Real::prepare).transpose()?;
    for topic in topics {
        let recorded = Arc::new(Recorded::read(&topic.name)?);
        recorded.reject_stale(&topic)?;
        for check in topic.checks {
            let check = Arc::new(check);
            let name = check.name.clone();
            trials.extend(real.clone().map(|real| real_trial(format!("real::{name}"), real, &check, &recorded)));
            trials.push(memory_trial(format!("memory::{name}"), &check, &recorded, &differences));
        }
    }
    println!("conformance: {differences}");
    Ok(libtest_mimic::run(args, trials).exit_code())
}

/// Creates the trial that the real server answers as recorded. It serves a definition with a delay, so a check can be
/// retried.
fn real_trial(name: String, server: Real, check: &Arc<Check>, recorded: &Arc<Recorded>) -> Trial {
    let (check, recorded) = (Arc::clone(check), Arc::clone(recorded));
    Trial::test(name, move || {
        let mut found = None;
        for attempt in 0..ATTEMPTS {
            found = recorded.difference(&check, &server.answers(&check, attempt)?);
            if found.is_none() {
                return Ok(());
            }
        }
        Err(found.unwrap_or_default().into())
    })
}

/// Creates the trial that the server in memory answers as recorded, unless a difference is known. A known difference
/// that no longer exists is a failure.
fn memory_trial(name: String, check: &Arc<Check>, recorded: &Arc<Recorded>, differences: &Arc<Differences>) -> Trial {
    let (check, recorded, differences) = (Arc::clone(check), Arc::clone(recorded), Arc::clone(differences));
    Trial::test(name, move || {
        let found = match InMemory.answers(&check, 0) {
            Ok(answers) => recorded.difference(&check, &answers),
            Err(failed) => Some(failed.message().unwrap_or_default().to_owned()),
        };
        match (found, differences.of(&check.name)) {
            (None, None) | (Some(_), Some(_)) => Ok(()),
            (Some(found), None) => Err(found.into()),
            (None, Some(_)) => Err("the answers are equal: remove the check from differences.yaml".into()),
        }
    })
}

/// Records the answers of the real server.
fn record(args: &Arguments, topics: Vec<Topic>) -> Result<ExitCode, Box<dyn Error>> {
    let assets = envtest::find()?.ok_or(envtest::HOW_TO_GET)?;
    let control_plane = ControlPlane::start(&assets)?;
    let real = Real::prepare(&control_plane)?;
    let mut trials = Vec::new();
    let mut recordings = Vec::new();
    for topic in topics {
        let recording = Arc::new(Mutex::new(Recorded::read(&topic.name)?));
        recording.lock().map_err(|error| error.to_string())?.retain(&topic);
        for check in topic.checks {
            let (recording, real) = (Arc::clone(&recording), real.clone());
            trials.push(Trial::test(format!("real::{}", check.name), move || {
                let answers = real.answers(&check, 0)?;
                recording.lock().map_err(|error| Failed::from(error.to_string()))?.insert(&check.name, answers);
                Ok(())
            }));
        }
        recordings.push(recording);
    }
    let conclusion = libtest_mimic::run(args, trials);
    for recording in recordings {
        recording.lock().map_err(|error| error.to_string())?.write()?;
    }
    Ok(conclusion.exit_code())
}
