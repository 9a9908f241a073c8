//! The records in the files of all agents.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use logger_agent::segment;

/// The records in the segments below a directory, which are read while agents append to them.
///
/// Guarantees:
/// - a segment that was found once is read to its end, also if its Pod is removed: the file remains open;
/// - each line must be a record, and the sequence numbers of a directory must have no gap;
/// - a record is found as soon as it is written.
#[derive(Debug)]
pub(crate) struct Segments {
    root: PathBuf,
    open: HashMap<PathBuf, Tail>,
    /// The next sequence number of each directory.
    next: HashMap<PathBuf, u64>,
    found: HashMap<String, usize>,
    records: usize,
}

/// A segment that is read up to an offset.
#[derive(Debug)]
struct Tail {
    file: File,
    offset: u64,
}

impl Segments {
    pub(crate) fn new(root: &Path) -> Self {
        let (open, next, found) = (HashMap::new(), HashMap::new(), HashMap::new());
        Segments { root: root.to_owned(), open, next, found, records: 0 }
    }

    /// Returns the number of records.
    pub(crate) fn records(&self) -> usize {
        self.records
    }

    /// Returns how often a record with this id was found.
    pub(crate) fn count(&self, id: &str) -> usize {
        self.found.get(id).copied().unwrap_or_default()
    }

    /// Returns the ids of all records.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.found.keys().cloned().collect()
    }

    /// Returns the ids of records that were found several times.
    pub(crate) fn repeated(&self) -> Vec<&str> {
        self.found.iter().filter(|(_, count)| **count > 1).map(|(id, _)| id.as_str()).collect()
    }

    /// Reads what was written since the last call. Returns the defects of the files.
    pub(crate) fn refresh(&mut self) -> io::Result<Vec<String>> {
        for path in paths(&self.root) {
            // A Pod can be removed in the meantime.
            if !self.open.contains_key(&path)
                && let Ok(file) = File::open(&path)
            {
                self.open.insert(path, Tail { file, offset: 0 });
            }
        }
        let mut paths: Vec<_> = self.open.keys().cloned().collect();
        // Segments of one directory are ordered by their names.
        paths.sort_unstable();
        let mut defects = Vec::new();
        for path in paths {
            // A removed segment is complete: the directory of a Pod is removed after its processes have ended.
            let is_removed = !path.exists();
            self.read(&path, &mut defects)?;
            if is_removed {
                self.open.remove(&path);
            }
        }
        Ok(defects)
    }

    fn read(&mut self, path: &Path, defects: &mut Vec<String>) -> io::Result<()> {
        let Some(Tail { file, offset }) = self.open.get_mut(path) else { return Ok(()) };
        file.seek(SeekFrom::Start(*offset))?;
        let next = self.next.entry(path.parent().unwrap_or(path).to_owned()).or_default();
        let (found, records) = (&mut self.found, &mut self.records);
        let scan = segment::scan(&*file, |_, record| match record {
            Ok(record) => {
                if record.sequence != *next {
                    let name = path.display();
                    defects.push(format!("{name}: sequence number {}, expected {next}", record.sequence));
                }
                *next = record.sequence + 1;
                *records += 1;
                if let Some(id) = record.id {
                    *found.entry(id).or_default() += 1;
                }
            }
            Err(error) => defects.push(format!("{}: {error}", path.display())),
        })?;
        *offset += scan.complete_bytes;
        Ok(())
    }
}

/// Returns the segments below a directory. Directories that are removed in the meantime are omitted.
fn paths(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut pending) = (Vec::new(), vec![root.to_owned()]);
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => pending.push(path),
                Ok(_) if path.extension().is_some_and(|extension| extension == "ndjson") => found.push(path),
                _ => {}
            }
        }
    }
    found
}
