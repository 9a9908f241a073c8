//! The data directory: persists every change before its response is sent.
//!
//! Guarantees:
//! - An acknowledged write survives a restart, also if the process was killed. A write that was not acknowledged is
//!   restored completely or not at all.
//! - Resource versions continue to increase after a restart. A version that a client has received is never used again,
//!   also if its write was lost ([`Safety::Relaxed`]): lists and watches from it fail with code 410.
//! - Only one server uses the directory at a time.
//! - The file of the objects has mode 0600.
//!
//! The storage engine is redb, which implements transactions, checksums, copy on write and the file lock. All objects
//! are in memory as well.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use redb::{
    Database, DatabaseError, Durability, ReadableDatabase, ReadableTable, TableDefinition, backends::FileBackend,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    api::object::Object,
    storage::{
        state::Persistence,
        store::{Event, Store},
    },
};

/// The file with the objects.
const FILE: &str = "objects.redb";
/// The objects as JSON, by resource and key, joined by [`SEPARATOR`]. The JSON has the name of the object's version in
/// place of its type.
const OBJECTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("objects");
const NUMBERS: TableDefinition<'_, &str, u64> = TableDefinition::new("numbers");
/// Separates resource and key. No name of a resource contains it.
const SEPARATOR: char = '\n';
/// The resource version of the latest change.
const VERSION: &str = "version";
/// The largest resource version that writes without an fsync may have. It is on disk before they are acknowledged. If
/// it is larger than [`VERSION`], the latest writes may be lost.
const RESERVED: &str = "reserved";
/// The number of versions that a write with an fsync reserves for the writes after it.
const RESERVED_VERSIONS: u64 = 4096;
/// The version of the file format.
const FORMAT: &str = "format";
const CURRENT_FORMAT: u64 = 1;
/// The maximum number of consecutive writes without an fsync. The file grows until the next one.
const MAX_UNSYNCED_WRITES: u32 = 512;

/// When a write is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Safety {
    /// After it is on disk: no acknowledged write is lost.
    #[default]
    Synced,
    /// Before it is on disk: if the process is killed, the latest writes are lost, at most some hundreds. Their
    /// resource versions are not used again.
    Relaxed,
}

/// The error for a data directory that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the data directory {} {problem}", path.display())]
pub struct DataDirError {
    path: PathBuf,
    problem: String,
}

/// Opens a directory, creates it if it does not exist, and restores its objects into a store. Returns whether it is
/// new.
pub(crate) fn open(path: &Path, safety: Safety, store: &mut Store) -> Result<(DataDir, bool), DataDirError> {
    let database = open_database(path).map_err(|problem| DataDirError::new(path, problem))?;
    let is_restored =
        restore(&database, store).map_err(|error| DataDirError::new(path, format!("cannot be read: {error}")))?;
    Ok((DataDir { database, safety, unsynced_writes: 0, version: 0, reserved: 0 }, !is_restored))
}

impl DataDirError {
    pub(crate) fn new(path: &Path, problem: String) -> Self {
        Self { path: path.to_owned(), problem }
    }
}

fn open_database(path: &Path) -> Result<Database, String> {
    fs::create_dir_all(path).map_err(|error| format!("cannot be created: {error}"))?;
    let file = open_private(&path.join(FILE)).map_err(|error| format!("cannot be opened: {error}"))?;
    let backend = FileBackend::new(file).map_err(|error| format!("cannot be opened: {error}"))?;
    Database::builder().create_with_backend(backend).map_err(|error| match error {
        DatabaseError::DatabaseAlreadyOpen => {
            "is in use by another server; stop that server or use another directory".to_owned()
        }
        error => format!("cannot be opened: {error}"),
    })
}

/// Opens or creates the file of the objects, which include Secrets, for its owner only.
fn open_private(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(file)
}

/// Restores the persisted objects into a store. Returns whether a server has used the directory before.
fn restore(database: &Database, store: &mut Store) -> Result<bool, Box<dyn std::error::Error>> {
    let transaction = database.begin_write()?;
    let (version, reserved) = {
        let mut numbers = transaction.open_table(NUMBERS)?;
        let format = numbers.insert(FORMAT, CURRENT_FORMAT)?.map(|format| format.value());
        if let Some(format) = format.filter(|format| *format != CURRENT_FORMAT) {
            return Err(format!("unsupported format {format}; this server supports format {CURRENT_FORMAT}").into());
        }
        transaction.open_table(OBJECTS)?;
        let number = |name: &'static str| Ok::<_, redb::StorageError>(numbers.get(name)?.map(|number| number.value()));
        (number(VERSION)?, number(RESERVED)?)
    };
    transaction.commit()?;
    let objects = database.begin_read()?.open_table(OBJECTS)?;
    for entry in objects.iter()? {
        let (key, json) = entry?;
        let resource = key.value().split(SEPARATOR).next().unwrap_or_default().to_owned();
        let fields = fields(json.value())?;
        store.restore(&resource, Object::from_persisted(fields)?);
    }
    store.continue_from(first_version(version.unwrap_or_default(), reserved.unwrap_or_default()));
    Ok(version.is_some())
}

/// Decodes the fields of an object. Its managed fields are deeper than the body that they describe.
fn fields(json: &[u8]) -> serde_json::Result<Map<String, Value>> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    deserializer.disable_recursion_limit();
    Map::deserialize(&mut deserializer)
}

/// Returns the version to continue from: one that no client has received, if writes may be lost.
fn first_version(version: u64, reserved: u64) -> u64 {
    if reserved > version { reserved + 1 } else { version }
}

/// Persists changes in a redb database.
#[derive(Debug)]
pub(crate) struct DataDir {
    database: Database,
    safety: Safety,
    unsynced_writes: u32,
    /// The version of the last write; 0 before the first one.
    version: u64,
    /// The largest version that is reserved on disk, of those that this server reserved.
    reserved: u64,
}

impl DataDir {
    fn write(&mut self, changes: &[Arc<Event>], version: u64) -> Result<(), Box<dyn std::error::Error>> {
        let mut transaction = self.database.begin_write()?;
        let is_relaxed = self.safety == Safety::Relaxed;
        let is_synced = !is_relaxed || version > self.reserved || self.unsynced_writes == MAX_UNSYNCED_WRITES;
        let reserved = (is_relaxed && is_synced).then_some(version + RESERVED_VERSIONS);
        if !is_synced {
            transaction.set_durability(Durability::None)?;
        }
        {
            let mut objects = transaction.open_table(OBJECTS)?;
            for change in changes {
                let key = format!("{}{SEPARATOR}{}", change.resource, change.key());
                match &change.after {
                    Some(object) => {
                        objects.insert(key.as_str(), serde_json::to_vec(&object.persisted())?.as_slice())?
                    }
                    None => objects.remove(key.as_str())?,
                };
            }
            let mut numbers = transaction.open_table(NUMBERS)?;
            numbers.insert(VERSION, version)?;
            if let Some(reserved) = reserved {
                numbers.insert(RESERVED, reserved)?;
            }
        }
        transaction.commit()?;
        self.unsynced_writes = if is_synced { 0 } else { self.unsynced_writes + 1 };
        self.version = version;
        self.reserved = reserved.unwrap_or(self.reserved);
        Ok(())
    }

    /// Syncs the last writes to disk, and records that none is lost.
    fn sync(&self) -> Result<(), Box<dyn std::error::Error>> {
        let transaction = self.database.begin_write()?;
        transaction.open_table(NUMBERS)?.insert(RESERVED, self.version)?;
        Ok(transaction.commit()?)
    }
}

impl Persistence for DataDir {
    fn persist(&mut self, changes: &[Arc<Event>], version: u64) -> Result<(), String> {
        self.write(changes, version).map_err(|error| error.to_string())
    }
}

impl Drop for DataDir {
    /// Syncs the last writes to disk when the server stops gracefully.
    fn drop(&mut self) {
        if self.reserved > 0 {
            // An error cannot be reported from here.
            drop(self.sync());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::store::History;

    /// Opens a directory without fsync. Returns the version from which it continues.
    fn reopen(path: &Path) -> (DataDir, u64) {
        let mut store = Store::new(History::default());
        let (data_dir, _) = open(path, Safety::Relaxed, &mut store).unwrap();
        (data_dir, store.version())
    }

    /// Returns the version from which a server continues after a kill at this time: on a copy of the file, since the
    /// lock of the original remains.
    fn version_after_kill(path: &Path) -> u64 {
        let copy = tempfile::tempdir().unwrap();
        fs::copy(path.join(FILE), copy.path().join(FILE)).unwrap();
        reopen(copy.path()).1
    }

    #[test]
    fn a_version_without_fsync_is_reserved_before_it_is_used() {
        let directory = tempfile::tempdir().unwrap();
        let (mut data_dir, _) = reopen(directory.path());
        for version in [10, 11, 10 + RESERVED_VERSIONS] {
            data_dir.write(&[], version).unwrap();
            assert_eq!(version_after_kill(directory.path()), 10 + RESERVED_VERSIONS + 1);
        }
        let beyond = 10 + RESERVED_VERSIONS + 1;
        for _ in 0..MAX_UNSYNCED_WRITES + 2 {
            data_dir.write(&[], beyond).unwrap();
            assert!(data_dir.unsynced_writes <= MAX_UNSYNCED_WRITES);
        }
        assert_eq!(version_after_kill(directory.path()), beyond + RESERVED_VERSIONS + 1);
        drop(data_dir);
        assert_eq!(reopen(directory.path()).1, beyond, "nothing is lost at a graceful stop");
    }

    #[test]
    fn a_directory_can_be_used_with_and_without_fsync() {
        let directory = tempfile::tempdir().unwrap();
        let (mut data_dir, _) = reopen(directory.path());
        data_dir.write(&[], 10).unwrap();
        data_dir.write(&[], 11).unwrap();
        let killed = tempfile::tempdir().unwrap();
        fs::copy(directory.path().join(FILE), killed.path().join(FILE)).unwrap();
        let mut store = Store::new(History::default());
        let (mut data_dir, _) = open(killed.path(), Safety::Synced, &mut store).unwrap();
        let version = store.version() + 1;
        data_dir.write(&[], version).unwrap();
        assert_eq!((version_after_kill(killed.path()), version), (version, 10 + RESERVED_VERSIONS + 2));
        drop(data_dir);
        assert_eq!(reopen(killed.path()).1, version);
    }
}
