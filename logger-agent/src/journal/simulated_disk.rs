//! A file system in memory that runs full, fails, and forgets what is not durable.

use std::{
    collections::BTreeMap,
    io::{self, Cursor, Read},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard},
    time::SystemTime,
};

use crate::file_system::{FileInfo, FileSystem, Lock, SegmentFile, Space};

/// A disk. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct SimulatedDisk(Arc<Mutex<State>>);

#[derive(Debug, Default)]
pub(super) struct State {
    files: BTreeMap<PathBuf, Content>,
    /// The number of bytes of all files; unlimited by default.
    pub(super) capacity: Option<usize>,
    /// The number of fsyncs that fail.
    pub(super) failing_syncs: usize,
    /// The number of appends that fail without an effect.
    pub(super) failing_appends: usize,
}

#[derive(Debug, Default)]
struct Content {
    bytes: Vec<u8>,
    durable: Vec<u8>,
    /// Whether the entry in the directory survives a power failure.
    is_linked: bool,
    /// The time of the last change, if it is not now.
    modified: Option<SystemTime>,
    /// Whether an fsync failed: the kernel has dropped the data, and later fsyncs succeed without it.
    has_lost_data: bool,
}

impl SimulatedDisk {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// Forgets what is not durable, except for a part of each tail.
    pub(super) fn lose_power(&self, kept_tail: usize) {
        let mut state = self.state();
        state.files.retain(|_, file| file.is_linked);
        for file in state.files.values_mut() {
            let durable = file.durable.len();
            if file.bytes.starts_with(&file.durable) && !file.has_lost_data {
                file.bytes.truncate(durable + kept_tail);
            } else {
                file.bytes = file.durable.clone();
            }
            file.has_lost_data = false;
        }
    }

    /// Returns the content of all segments, in order.
    pub(super) fn contents(&self) -> Vec<(PathBuf, Vec<u8>)> {
        self.state().files.iter().map(|(path, file)| (path.clone(), file.bytes.clone())).collect()
    }

    /// Sets the time of the last change of a file.
    pub(super) fn set_modified(&self, path: &Path, time: SystemTime) {
        self.state().files.get_mut(path).unwrap().modified = Some(time);
    }

    /// Changes a file.
    pub(super) fn edit(&self, path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
        change(&mut self.state().files.get_mut(path).unwrap().bytes);
    }
}

impl FileSystem for SimulatedDisk {
    fn list(&self, directory: &Path) -> io::Result<Vec<FileInfo>> {
        let state = self.state();
        let files = state.files.iter().filter(|(path, _)| path.parent() == Some(directory));
        let info = |(path, file): (&PathBuf, &Content)| FileInfo {
            name: path.file_name().unwrap().to_str().unwrap().to_owned(),
            bytes: file.bytes.len() as u64,
            modified: file.modified.unwrap_or_else(SystemTime::now),
        };
        Ok(files.map(info).collect())
    }

    fn read(&self, path: &Path) -> io::Result<Box<dyn Read>> {
        let state = self.state();
        let file = state.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(Cursor::new(file.bytes.clone())))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn SegmentFile>> {
        let mut state = self.state();
        if state.files.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        state.files.insert(path.to_owned(), Content::default());
        Ok(Box::new(SimulatedFile { disk: self.clone(), path: path.to_owned() }))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn SegmentFile>> {
        self.read(path)?;
        Ok(Box::new(SimulatedFile { disk: self.clone(), path: path.to_owned() }))
    }

    fn create_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.state().files.remove(path).map(|_| ()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        let mut state = self.state();
        let files = state.files.iter_mut().filter(|(path, _)| path.parent() == Some(directory));
        files.for_each(|(_, file)| file.is_linked = true);
        Ok(())
    }

    fn space(&self, _: &Path) -> io::Result<Option<Space>> {
        let state = self.state();
        let used: usize = state.files.values().map(|file| file.bytes.len()).sum();
        let space = |total: usize| Space { available: total.saturating_sub(used) as u64, total: total as u64 };
        Ok(state.capacity.map(space))
    }

    fn lock(&self, _: &Path) -> io::Result<Lock> {
        Ok(Box::new(()))
    }
}

#[derive(Debug)]
struct SimulatedFile {
    disk: SimulatedDisk,
    path: PathBuf,
}

impl SimulatedFile {
    fn with<T>(&self, run: impl FnOnce(&mut Content) -> T) -> T {
        run(self.disk.state().files.entry(self.path.clone()).or_default())
    }
}

impl SegmentFile for SimulatedFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = {
            let mut state = self.disk.state();
            if state.failing_appends > 0 {
                state.failing_appends -= 1;
                return Err(io::Error::other("simulated failure of an append"));
            }
            let used: usize = state.files.values().map(|file| file.bytes.len()).sum();
            state.capacity.map_or(usize::MAX, |capacity| capacity.saturating_sub(used))
        };
        match bytes.len().min(room) {
            0 => Err(io::ErrorKind::StorageFull.into()),
            count => {
                self.with(|file| file.bytes.extend_from_slice(&bytes[..count]));
                Ok(count)
            }
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        let fails = {
            let mut state = self.disk.state();
            let fails = state.failing_syncs > 0;
            state.failing_syncs = state.failing_syncs.saturating_sub(1);
            fails
        };
        self.with(|file| {
            file.has_lost_data |= fails;
            if !file.has_lost_data {
                file.durable = file.bytes.clone();
            }
        });
        if fails { Err(io::Error::other("simulated failure of an fsync")) } else { Ok(()) }
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.with(|file| {
            file.bytes.truncate(usize::try_from(length).unwrap());
            // What was lost is removed; pages that are written later become durable again.
            file.has_lost_data &= file.bytes.len() > file.durable.len();
        });
        Ok(())
    }
}
