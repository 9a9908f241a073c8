//! The data directory: persists every change before its response is sent.
//!
//! Guarantees:
//! - An acknowledged write survives a restart, also if the process was killed. A write that was not acknowledged is
//!   restored completely or not at all.
//! - Resource versions continue to increase after a restart.
//! - Only one server uses the directory at a time.
//!
//! The storage engine is redb, which implements transactions, checksums, copy on write and the file lock. All objects
//! are in memory as well.

use std::{
    fs,
    path::{Path, PathBuf},
};

use redb::{Database, DatabaseError, Durability, ReadableDatabase, ReadableTable, TableDefinition};
use serde_json::{Map, Value};

use crate::{
    api::object::Object,
    storage::{
        state::Persistence,
        store::{Event, Store},
    },
};

/// The only file in the directory.
const FILE: &str = "objects.redb";
/// The objects as JSON, by resource and key, joined by [`SEPARATOR`]. The JSON has the name of the object's version in
/// place of its type.
const OBJECTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("objects");
const NUMBERS: TableDefinition<'_, &str, u64> = TableDefinition::new("numbers");
/// Separates resource and key. No name of a resource contains it.
const SEPARATOR: char = '\n';
/// The resource version of the latest change.
const VERSION: &str = "version";
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
    /// Before it is on disk: if the process is killed, the latest writes are lost, at most some hundreds.
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
    Ok((DataDir { database, safety, unsynced_writes: 0 }, !is_restored))
}

impl DataDirError {
    pub(crate) fn new(path: &Path, problem: String) -> Self {
        Self { path: path.to_owned(), problem }
    }
}

fn open_database(path: &Path) -> Result<Database, String> {
    fs::create_dir_all(path).map_err(|error| format!("cannot be created: {error}"))?;
    Database::create(path.join(FILE)).map_err(|error| match error {
        DatabaseError::DatabaseAlreadyOpen => {
            "is in use by another server; stop that server or use another directory".to_owned()
        }
        error => format!("cannot be opened: {error}"),
    })
}

/// Restores the persisted objects into a store. Returns whether a server has used the directory before.
fn restore(database: &Database, store: &mut Store) -> Result<bool, Box<dyn std::error::Error>> {
    let transaction = database.begin_write()?;
    let version = {
        let mut numbers = transaction.open_table(NUMBERS)?;
        let format = numbers.insert(FORMAT, CURRENT_FORMAT)?.map(|format| format.value());
        if let Some(format) = format.filter(|format| *format != CURRENT_FORMAT) {
            return Err(format!("unsupported format {format}; this server supports format {CURRENT_FORMAT}").into());
        }
        transaction.open_table(OBJECTS)?;
        numbers.get(VERSION)?.map(|version| version.value())
    };
    transaction.commit()?;
    let objects = database.begin_read()?.open_table(OBJECTS)?;
    for entry in objects.iter()? {
        let (key, json) = entry?;
        let resource = key.value().split(SEPARATOR).next().unwrap_or_default().to_owned();
        let fields: Map<String, Value> = serde_json::from_slice(json.value())?;
        store.restore(&resource, Object::from_persisted(fields)?);
    }
    store.continue_from(version.unwrap_or_default());
    Ok(version.is_some())
}

/// Persists changes in a redb database.
#[derive(Debug)]
pub(crate) struct DataDir {
    database: Database,
    safety: Safety,
    unsynced_writes: u32,
}

impl DataDir {
    fn write(&mut self, changes: &[Event], version: u64) -> Result<(), Box<dyn std::error::Error>> {
        let mut transaction = self.database.begin_write()?;
        if self.safety == Safety::Relaxed && self.unsynced_writes < MAX_UNSYNCED_WRITES {
            self.unsynced_writes += 1;
            transaction.set_durability(Durability::None)?;
        } else {
            self.unsynced_writes = 0;
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
            transaction.open_table(NUMBERS)?.insert(VERSION, version)?;
        }
        Ok(transaction.commit()?)
    }
}

impl Persistence for DataDir {
    fn persist(&mut self, changes: &[Event], version: u64) -> Result<(), String> {
        self.write(changes, version).map_err(|error| error.to_string())
    }
}

impl Drop for DataDir {
    /// Syncs the last writes to disk when the server stops gracefully.
    fn drop(&mut self) {
        if self.unsynced_writes > 0
            && let Ok(transaction) = self.database.begin_write()
        {
            // An error cannot be reported from here.
            drop(transaction.commit());
        }
    }
}
