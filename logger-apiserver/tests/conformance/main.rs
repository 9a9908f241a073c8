//! Conformance: every check is a list of requests, and the server in memory answers them as a real kube-apiserver did.
//!
//! The checks of a topic are in `topics/<topic>.yaml`, what the real server answered is in `topics/<topic>.answers.json`. A plain
//! run holds the server in memory to the answers and, where there is a control plane, the real server too. A new check is written,
//! then recorded: `CONFORMANCE=record cargo test -p logger-apiserver --test conformance -- [filter]`; read what was recorded. Where
//! the server in memory is known to answer otherwise is in `differences.yaml`, with the reason.
//!
//! `LOGGER_REQUIRE_CONTROL_PLANE=1`, as in CI, makes it a failure that there is no control plane.

mod answers;
mod check;
mod differences;
mod differing;
mod names;
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

/// How often the real server may be asked for what is recorded of it, each time in another namespace.
const TRIES: usize = 3;

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
        recorded.is_of(&topic)?;
        for check in topic.checks {
            let check = Arc::new(check);
            let name = check.name.clone();
            trials.extend(real.clone().map(|real| held(format!("real::{name}"), real, &check, &recorded)));
            trials.push(held_but_for(format!("memory::{name}"), &check, &recorded, &differences));
        }
    }
    println!("conformance: {differences}");
    Ok(libtest_mimic::run(args, trials).exit_code())
}

/// The real server answers what is recorded. Its handlers follow its definitions a moment later, so it may be asked again.
fn held(name: String, server: Real, check: &Arc<Check>, recorded: &Arc<Recorded>) -> Trial {
    let (check, recorded) = (Arc::clone(check), Arc::clone(recorded));
    Trial::test(name, move || {
        let mut found = None;
        for attempt in 0..TRIES {
            found = recorded.disagreement(&check, &server.answers(&check, attempt)?);
            if found.is_none() {
                return Ok(());
            }
        }
        Err(found.unwrap_or_default().into())
    })
}

/// The server in memory answers what is recorded, unless it is known not to: then it must not, or the list is wrong.
fn held_but_for(name: String, check: &Arc<Check>, recorded: &Arc<Recorded>, differences: &Arc<Differences>) -> Trial {
    let (check, recorded, differences) = (Arc::clone(check), Arc::clone(recorded), Arc::clone(differences));
    Trial::test(name, move || {
        let found = match InMemory.answers(&check, 0) {
            Ok(answers) => recorded.disagreement(&check, &answers),
            Err(failed) => Some(failed.message().unwrap_or_default().to_owned()),
        };
        match (found, differences.of(&check.name)) {
            (None, None) | (Some(_), Some(_)) => Ok(()),
            (Some(found), None) => Err(found.into()),
            (None, Some(_)) => Err("both servers answer the same: take it out of differences.yaml".into()),
        }
    })
}

/// Asks the real server, and writes down what it answers.
fn record(args: &Arguments, topics: Vec<Topic>) -> Result<ExitCode, Box<dyn Error>> {
    let assets = envtest::find()?.ok_or(envtest::HOW_TO_GET)?;
    let control_plane = ControlPlane::start(&assets)?;
    let real = Real::prepare(&control_plane)?;
    let mut trials = Vec::new();
    let mut books = Vec::new();
    for topic in topics {
        let book = Arc::new(Mutex::new(Recorded::read(&topic.name)?));
        book.lock().map_err(|error| error.to_string())?.forget_others(&topic);
        for check in topic.checks {
            let (book, real) = (Arc::clone(&book), real.clone());
            trials.push(Trial::test(format!("real::{}", check.name), move || {
                let answers = real.answers(&check, 0)?;
                book.lock().map_err(|error| Failed::from(error.to_string()))?.put(&check.name, answers);
                Ok(())
            }));
        }
        books.push(book);
    }
    let conclusion = libtest_mimic::run(args, trials);
    for book in books {
        book.lock().map_err(|error| error.to_string())?.write()?;
    }
    Ok(conclusion.exit_code())
}
