//! The records in the files of all agents.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use libtest_mimic::Trial;
use logger_agent::{Draft, Source, record, segment};
use tests::availability::Error;

use super::trial;

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
                Ok(_) if segment::is_segment(&path) => found.push(path),
                _ => {}
            }
        }
    }
    found
}

/// Returns the trials of this check itself.
pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("segments::records_are_found_as_soon_as_they_are_written", records_are_found),
        trial("segments::a_corrupt_line_is_a_defect", corrupt_line),
        trial("segments::a_sequence_gap_is_a_defect", sequence_gap),
        trial("segments::a_repeated_record_is_found", repeated_record),
    ]
}

/// Returns the line of a record.
fn line(sequence: u64, id: &str) -> Result<String, Error> {
    let draft = Draft::new(Source::Activity, Some(id.to_owned()), serde_json::from_str("{}")?);
    Ok(record::encode(sequence, "2026-01-01T00:00:00Z".parse()?, &draft))
}

/// Reads a segment with these lines. Returns its records and defects.
fn read(lines: &[String]) -> Result<(Segments, Vec<String>), Error> {
    let directory = tempfile::tempdir()?;
    fs::write(directory.path().join("audit-0-0.ndjson"), lines.concat())?;
    let mut segments = Segments::new(directory.path());
    let defects = segments.refresh()?;
    Ok((segments, defects))
}

async fn records_are_found() -> Result<(), Error> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("audit-0-0.ndjson");
    let mut segments = Segments::new(directory.path());
    let mut text = String::new();
    for (count, id) in ["a", "b"].into_iter().enumerate() {
        text += &line(count as u64, id)?;
        fs::write(&path, &text)?;
        assert_eq!(segments.refresh()?, Vec::<String>::new());
        assert_eq!((segments.count(id), segments.records()), (1, count + 1));
    }
    assert_eq!(segments.repeated(), Vec::<&str>::new());
    Ok(())
}

async fn corrupt_line() -> Result<(), Error> {
    let corrupt = line(1, "b")?.replacen("2026", "2027", 1);
    let (segments, defects) = read(&[line(0, "a")?, corrupt])?;
    assert_eq!((defects.len(), segments.records(), segments.count("b")), (1, 1, 0), "{defects:?}");
    Ok(())
}

async fn sequence_gap() -> Result<(), Error> {
    let (segments, defects) = read(&[line(0, "a")?, line(2, "b")?])?;
    assert!(matches!(&defects[..], [gap] if gap.ends_with("sequence number 2, expected 1")), "{defects:?}");
    assert_eq!(segments.records(), 2);
    Ok(())
}

async fn repeated_record() -> Result<(), Error> {
    let (segments, defects) = read(&[line(0, "a")?, line(1, "b")?, line(2, "a")?])?;
    assert_eq!(defects, Vec::<String>::new());
    assert_eq!((segments.repeated(), segments.count("a")), (vec!["a"], 2));
    Ok(())
}
