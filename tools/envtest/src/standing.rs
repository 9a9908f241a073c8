//! A control plane that outlives the command that started it: brought up, found again, taken down.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};

use crate::assets::{self, HOW_TO_GET};
use crate::control_plane::Launch;
use crate::lock::Lock;
use crate::paths;
use crate::progress::Progress;
use crate::servers::Ports;
use crate::state::State;

const LOCK: &str = "up";

/// Starts a control plane that outlives this process, or finds the one that is up; says on stderr which.
///
/// Setting `cancelled` while it starts calls the start off, and stops what was started.
pub fn up(cancelled: &AtomicBool) -> Result<State> {
    let _lock = Lock::acquire(LOCK, cancelled)?;
    if let Some(state) = State::load(&state_file())? {
        if state.is_running()? {
            eprintln!("a control plane is already up");
            return Ok(state);
        }
        eprintln!("the control plane that was up has ended; starting another");
        discard(&state)?;
    }
    start(cancelled)
}

/// Stops the control plane that is up, if any; says on stderr what it did.
pub fn down() -> Result<()> {
    let _lock = Lock::acquire(LOCK, &AtomicBool::new(false))?;
    match State::load(&state_file())? {
        Some(state) => {
            discard(&state)?;
            eprintln!("the control plane is down");
        }
        None => eprintln!("nothing is up"),
    }
    Ok(())
}

fn start(cancelled: &AtomicBool) -> Result<State> {
    let assets = assets::find()?.with_context(|| format!("no control plane; {HOW_TO_GET}"))?;
    let progress = Progress::start("starting etcd and kube-apiserver (about 5 seconds)".to_owned());
    let launch = Launch { assets: &assets, flags: &[], parent: &paths::home(), detached: true, cancelled };
    let control_plane = launch.run(Ports::free)?;
    let state = control_plane.state()?;
    state.save(&state_file())?;
    control_plane.leave_running();
    progress.done("the control plane is up; stop it with: cargo xtask envtest down");
    Ok(state)
}

/// The record goes last: as long as anything may be left of the control plane, it can be taken down again.
fn discard(state: &State) -> Result<()> {
    state.stop(&paths::home())?;
    fs::remove_file(state_file()).context("cannot remove the record of what is up")
}

fn state_file() -> PathBuf {
    paths::home().join("state.json")
}
