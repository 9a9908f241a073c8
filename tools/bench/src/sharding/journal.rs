//! The journal of a replica, which is read while the replica appends to it.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{ErrorKind, Read, Seek, SeekFrom},
    path::PathBuf,
    time::Duration,
};

use anyhow::{Context, Result};

/// What a replica has recorded.
pub(super) struct Journal {
    path: PathBuf,
    /// The length of the lines that were read.
    offset: u64,
    slots: usize,
    reconciled: BTreeMap<String, Duration>,
}

impl Journal {
    pub(super) fn new(path: PathBuf) -> Journal {
        Journal { path, offset: 0, slots: 0, reconciled: BTreeMap::new() }
    }

    /// Returns the number of slots.
    pub(super) fn slots(&self) -> usize {
        self.slots
    }

    /// Returns when each object was first reconciled, on the monotonic clock.
    pub(super) fn reconciled(&self) -> &BTreeMap<String, Duration> {
        &self.reconciled
    }

    /// Reads the complete lines that were appended.
    pub(super) fn update(&mut self) -> Result<()> {
        let mut file = match File::open(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            file => file?,
        };
        file.seek(SeekFrom::Start(self.offset))?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let complete = text.rfind('\n').map_or(0, |end| end + 1);
        for line in text[..complete].lines() {
            self.read(line).with_context(|| format!("invalid line `{line}` in {}", self.path.display()))?;
        }
        self.offset += complete as u64;
        Ok(())
    }

    fn read(&mut self, line: &str) -> Option<()> {
        match line.split(' ').collect::<Vec<_>>().as_slice() {
            ["slots", count] => self.slots = count.parse().ok()?,
            ["reconciled", name, nanos] => {
                let at = Duration::from_nanos(nanos.parse().ok()?);
                self.reconciled.entry((*name).to_owned()).or_insert(at);
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn complete_lines_are_read_once() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut journal = Journal::new(file.path().to_owned());
        file.write_all(b"slots 64\nreconciled a 7\nslots 1").unwrap();
        journal.update().unwrap();
        assert_eq!((journal.slots(), journal.reconciled()["a"].as_nanos()), (64, 7));
        file.write_all(b"3\nreconciled a 9\n").unwrap();
        journal.update().unwrap();
        assert_eq!((journal.slots(), journal.reconciled()["a"].as_nanos()), (13, 7));
        file.write_all(b"slots many\n").unwrap();
        assert!(journal.update().unwrap_err().to_string().starts_with("invalid line `slots many` in "));
    }

    #[test]
    fn a_journal_that_does_not_exist_yet_is_empty() {
        let mut journal = Journal::new(PathBuf::from("/nowhere/journal"));
        journal.update().unwrap();
        assert_eq!(journal.slots(), 0);
    }
}
