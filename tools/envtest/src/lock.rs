//! One build, and one `up` or `down`, at a time: a file lock, which the system releases when its holder dies.

use std::fs::{self, File, TryLockError};
use std::sync::atomic::AtomicBool;
use std::thread;

use anyhow::{Context, Result};

use crate::paths;
use crate::readiness::{POLL, check};

/// Held until dropped.
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for whoever holds the lock of that name, until `cancelled`.
    pub(crate) fn acquire(name: &str, cancelled: &AtomicBool) -> Result<Lock> {
        let file = open(name)?;
        let mut told = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Lock { _file: file }),
                Err(TryLockError::WouldBlock) => wait(name, cancelled, &mut told)?,
                Err(TryLockError::Error(error)) => return Err(error).context("cannot lock"),
            }
        }
    }
}

fn open(name: &str) -> Result<File> {
    let home = paths::home();
    let path = home.join(format!("{name}.lock"));
    fs::create_dir_all(&home)
        .and_then(|()| File::create(&path))
        .with_context(|| format!("cannot create {}", path.display()))
}

fn wait(name: &str, cancelled: &AtomicBool, told: &mut bool) -> Result<()> {
    if !*told {
        eprintln!("another envtest is at it (it holds {name}.lock), waiting for it");
        *told = true;
    }
    check(cancelled)?;
    thread::sleep(POLL);
    Ok(())
}
