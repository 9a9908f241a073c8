//! File locks between processes, which the system releases when their holder dies.

use std::{
    fs::{self, File, TryLockError},
    sync::atomic::AtomicBool,
    thread,
};

use anyhow::{Context, Result};
use kubewright_envtest::internals::{POLL, check};

use crate::paths;

/// A lock that is held until it is dropped.
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Acquires the lock of this name, and waits for it until `cancelled`.
    pub(crate) fn acquire(name: &str, cancelled: &AtomicBool) -> Result<Lock> {
        let file = open(name)?;
        let mut is_reported = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Lock { _file: file }),
                Err(TryLockError::WouldBlock) => wait(name, cancelled, &mut is_reported)?,
                Err(TryLockError::Error(error)) => return Err(error).context("cannot lock"),
            }
        }
    }
}

fn open(name: &str) -> Result<File> {
    let home = paths::home()?;
    let path = home.join(format!("{name}.lock"));
    fs::create_dir_all(&home)
        .and_then(|()| File::create(&path))
        .with_context(|| format!("cannot create {}", path.display()))
}

fn wait(name: &str, cancelled: &AtomicBool, is_reported: &mut bool) -> Result<()> {
    if !*is_reported {
        eprintln!("waiting for another envtest process, which holds {name}.lock");
        *is_reported = true;
    }
    check(cancelled)?;
    thread::sleep(POLL);
    Ok(())
}
