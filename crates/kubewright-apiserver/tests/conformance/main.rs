//! Conformance: each check is a list of requests, which the server in memory must answer as a real kube-apiserver.
//!
//! The checks of a topic are in
//! `topics/<topic>.yaml`, the recorded answers of the real server in `topics/<topic>.answers.json`. A plain run
//! compares the answers of the server in memory and, if there is a control plane, of the real server with the recorded
//! ones. To add a check, write it and record its answers:
//! `CONFORMANCE=record cargo test -p kubewright-apiserver --test conformance -- [filter]`. Review what was recorded.
//! Known differences of the server in memory are in `differences.yaml`, with their reasons.
//!
//! Without a control plane the tests of the real server are ignored. With `KUBEWRIGHT_REQUIRE_CONTROL_PLANE=1`, as in
//! CI, that is a failure.

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

use envtest::{Assets, ControlPlane};
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

/// The real server, and the control plane that it belongs to.
type Environment = (Real, ControlPlane);

/// The tests of the real server, which is stopped when they have run.
type Suite = envtest::Suite<Environment>;

fn suite() -> Result<Arc<Suite>, Box<dyn Error>> {
    Ok(Suite::new("conformance on the real server", start)?)
}

fn start(assets: &Assets) -> Result<Environment, Box<dyn Error>> {
    let control_plane = ControlPlane::start(assets)?;
    Ok((Real::prepare(&control_plane)?, control_plane))
}

fn run(args: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let topics = topic::read_all()?;
    if std::env::var_os("CONFORMANCE").is_some_and(|what| what == "record") {
        return record(args, topics);
    }
    let differences = Arc::new(Differences::read(&topics)?);
    let mut trials = Vec::new();
    let suite = suite()?;
    for topic in topics {
        let recorded = Arc::new(Recorded::read(&topic.name)?);
        recorded.reject_stale(&topic)?;
        for check in topic.checks {
            let check = Arc::new(check);
            let name = check.name.clone();
            trials.push(real_trial(format!("real::{name}"), &suite, &check, &recorded));
            trials.push(memory_trial(format!("memory::{name}"), &check, &recorded, &differences));
        }
    }
    println!("conformance: {differences}");
    Ok(suite.run(args, trials).exit_code())
}

/// Creates the trial that the real server answers as recorded. It serves a definition with a delay, so a check can be
/// retried.
fn real_trial(name: String, suite: &Arc<Suite>, check: &Arc<Check>, recorded: &Arc<Recorded>) -> Trial {
    let (check, recorded) = (Arc::clone(check), Arc::clone(recorded));
    suite.test(name, move |(real, _)| {
        let mut found = None;
        for attempt in 0..ATTEMPTS {
            found = recorded.difference(&check, &real.answers(&check, attempt)?);
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
        match (found, differences.reason(&check.name)) {
            (None, None) | (Some(_), Some(_)) => Ok(()),
            (Some(found), None) => Err(found.into()),
            (None, Some(_)) => Err("the answers are equal: remove the check from differences.yaml".into()),
        }
    })
}

/// Records the answers of the real server.
fn record(args: &Arguments, topics: Vec<Topic>) -> Result<ExitCode, Box<dyn Error>> {
    let suite = suite()?;
    suite.assets().ok_or(envtest::HOW_TO_GET)?;
    let mut trials = Vec::new();
    let mut recordings = Vec::new();
    for topic in topics {
        let recording = Arc::new(Mutex::new(Recorded::read(&topic.name)?));
        recording.lock().map_err(|error| error.to_string())?.retain(&topic);
        for check in topic.checks {
            let recording = Arc::clone(&recording);
            trials.push(suite.test(format!("real::{}", check.name), move |(real, _)| {
                let answers = real.answers(&check, 0)?;
                recording.lock().map_err(|error| Failed::from(error.to_string()))?.insert(&check.name, answers);
                Ok(())
            }));
        }
        recordings.push(recording);
    }
    let conclusion = suite.run(args, trials);
    for recording in recordings {
        recording.lock().map_err(|error| error.to_string())?.write()?;
    }
    Ok(conclusion.exit_code())
}
