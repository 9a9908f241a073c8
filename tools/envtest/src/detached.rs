//! A control plane that runs in the background until [`down`].

use std::{fs, path::PathBuf, sync::atomic::AtomicBool};

use anyhow::{Context, Result};

use kubewright_envtest::internals::{Launch, Ports};

use crate::{
    assets::{self, HOW_TO_GET},
    lock::Lock,
    paths,
    progress::Progress,
    state::State,
};

const LOCK: &str = "up";

/// Starts a control plane in the background, or returns the one that runs already, and reports on stderr which.
///
/// Setting `cancelled` during the start cancels it and stops all started processes.
pub fn up(cancelled: &AtomicBool) -> Result<State> {
    let _lock = Lock::acquire(LOCK, cancelled)?;
    if let Some(state) = State::load(&state_file()?)? {
        if state.is_running()? {
            eprintln!("a control plane is already running");
            return Ok(state);
        }
        eprintln!("the previous control plane has ended; starting a new one");
        discard(&state)?;
    }
    start(cancelled)
}

/// Stops the control plane that [`up`] started, if any, and reports the result on stderr.
pub fn down() -> Result<()> {
    let _lock = Lock::acquire(LOCK, &AtomicBool::new(false))?;
    match State::load(&state_file()?)? {
        Some(state) => {
            discard(&state)?;
            eprintln!("the control plane is stopped");
        }
        None => eprintln!("no control plane is running"),
    }
    Ok(())
}

fn start(cancelled: &AtomicBool) -> Result<State> {
    let assets = assets::find()?.with_context(|| format!("no control plane; {HOW_TO_GET}"))?;
    let progress = Progress::start("starting etcd and kube-apiserver (about 5 seconds)".to_owned());
    let launch = Launch { assets: &assets, flags: &[], parent: &paths::home()?, detached: true, cancelled };
    let control_plane = launch.run(Ports::free)?;
    let state = State::from_control_plane(&control_plane)?;
    state.save(&state_file()?)?;
    control_plane.leave_running();
    progress.done("the control plane is running; stop it with: cargo xtask envtest down");
    Ok(state)
}

/// Stops a control plane and removes its record last, so that a failed stop can be repeated.
fn discard(state: &State) -> Result<()> {
    state.stop(&paths::home()?)?;
    fs::remove_file(state_file()?).context("cannot remove the record of the control plane")
}

fn state_file() -> Result<PathBuf> {
    Ok(paths::home()?.join("state.json"))
}
