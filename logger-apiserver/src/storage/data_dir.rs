//! The data directory: every object on disk, before its write is answered.
//!
//! It promises:
//! - What was acknowledged is there after a restart, whatever ended the process; what was not is there whole or not at all.
//! - Versions go on growing where they were.
//! - One server has the directory at a time.
//!
//! Under it is redb: transactions, checksums, copy on write and the lock of the file are its own. All objects stay in memory as well.

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

/// The one file of the directory.
const FILE: &str = "objects.redb";
/// By resource and key, with [`SEPARATOR`] between them; the JSON of the object, with the name of its version in place of its type.
const OBJECTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("objects");
const NUMBERS: TableDefinition<'_, &str, u64> = TableDefinition::new("numbers");
/// In no name of a resource.
const SEPARATOR: char = '\n';
/// The version of the latest change.
const VERSION: &str = "version";
/// How the tables are written.
const FORMAT: &str = "format";
const THIS_FORMAT: u64 = 1;
/// After so many writes that were not waited for, one is: the file grows until then.
const UNSAFE_WRITES: u32 = 512;

/// When a write is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Safety {
    /// When it is on disk: nothing that was acknowledged is lost.
    #[default]
    Synced,
    /// At once: if the process is killed, the latest writes are lost, some hundreds at most.
    Relaxed,
}

/// A data directory that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the data directory {} {what}", path.display())]
pub struct DataDirError {
    path: PathBuf,
    what: String,
}

/// Opens a directory, creates it if it does not exist, and restores its objects into a store. Returns whether it is new.
pub(crate) fn open(path: &Path, safety: Safety, store: &mut Store) -> Result<(DataDir, bool), DataDirError> {
    let database = open_database(path).map_err(|what| DataDirError::new(path, what))?;
    let is_restored =
        restore(&database, store).map_err(|error| DataDirError::new(path, format!("cannot be read: {error}")))?;
    Ok((DataDir { database, safety, unsafe_writes: 0 }, !is_restored))
}

impl DataDirError {
    pub(crate) fn new(path: &Path, what: String) -> Self {
        Self { path: path.to_owned(), what }
    }
}

fn open_database(path: &Path) -> Result<Database, String> {
    fs::create_dir_all(path).map_err(|error| format!("cannot be made: {error}"))?;
    Database::create(path.join(FILE)).map_err(|error| match error {
        DatabaseError::DatabaseAlreadyOpen => {
            "is in use by another server: stop that one, or take another directory".to_owned()
        }
        error => format!("cannot be opened: {error}"),
    })
}

/// Puts in the state what is kept. Whether there was anything, if only from a server without objects.
fn restore(database: &Database, store: &mut Store) -> Result<bool, Box<dyn std::error::Error>> {
    let transaction = database.begin_write()?;
    let version = {
        let mut numbers = transaction.open_table(NUMBERS)?;
        let format = numbers.insert(FORMAT, THIS_FORMAT)?.map(|format| format.value());
        if let Some(format) = format.filter(|format| *format != THIS_FORMAT) {
            return Err(format!("it is in format {format}, and this server knows format {THIS_FORMAT} alone").into());
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
        store.restore(&resource, Object::from_kept(fields)?);
    }
    store.go_on_from(version.unwrap_or_default());
    Ok(version.is_some())
}

/// Where changes are kept.
#[derive(Debug)]
pub(crate) struct DataDir {
    database: Database,
    safety: Safety,
    unsafe_writes: u32,
}

impl DataDir {
    fn write(&mut self, changes: &[Event], version: u64) -> Result<(), Box<dyn std::error::Error>> {
        let mut transaction = self.database.begin_write()?;
        if self.safety == Safety::Relaxed && self.unsafe_writes < UNSAFE_WRITES {
            self.unsafe_writes += 1;
            transaction.set_durability(Durability::None)?;
        } else {
            self.unsafe_writes = 0;
        }
        {
            let mut objects = transaction.open_table(OBJECTS)?;
            for change in changes {
                let key = format!("{}{SEPARATOR}{}", change.resource, change.key());
                match &change.after {
                    Some(object) => objects.insert(key.as_str(), serde_json::to_vec(&object.kept())?.as_slice())?,
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
    /// What was not waited for is on disk when the server ends as it should.
    fn drop(&mut self) {
        if self.unsafe_writes > 0
            && let Ok(transaction) = self.database.begin_write()
        {
            // An error cannot be reported from here.
            drop(transaction.commit());
        }
    }
}
