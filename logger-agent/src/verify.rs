//! The check of a directory with segments: gaps, duplicates, corrupt lines and torn tails.

use std::{collections::BTreeMap, fmt, io, num::NonZeroUsize, path::Path};

use crate::{
    deduplication::{Deduplicator, Keys, Known},
    file_system::FileSystem,
    record::{Record, RecordError},
    segment,
};

/// The number of ids that are compared. Older ones are forgotten, so that the memory is bounded.
const REMEMBERED_IDS: NonZeroUsize = NonZeroUsize::MIN.saturating_add((1 << 18) - 1);

/// A defect of a log.
#[derive(Debug)]
#[non_exhaustive]
pub enum Finding {
    /// Sequence numbers are missing between two records. Removed segments before the first one are not a gap.
    Gap {
        /// The segment of the record after the gap.
        segment: String,
        /// The first missing sequence number.
        first: u64,
        /// The last missing sequence number.
        last: u64,
    },
    /// A sequence number does not exceed the one before.
    Duplicate {
        /// The segment.
        segment: String,
        /// The line.
        line: u64,
        /// The sequence number.
        sequence: u64,
    },
    /// A record of the same source and id with the same body precedes.
    DuplicateId {
        /// The segment.
        segment: String,
        /// The line.
        line: u64,
        /// The id.
        id: String,
    },
    /// A line is not a valid record.
    Corrupt {
        /// The segment.
        segment: String,
        /// The line.
        line: u64,
        /// The reason.
        error: RecordError,
    },
    /// A segment ends within a line. The agent truncates it at its start.
    TornTail {
        /// The segment.
        segment: String,
        /// The size of the torn tail.
        bytes: u64,
    },
    /// The name of a segment differs from the sequence number of its first record.
    Misnamed {
        /// The segment.
        segment: String,
        /// The sequence number of its first record.
        sequence: u64,
    },
    /// A segment cannot be read.
    Unreadable {
        /// The segment.
        segment: String,
        /// The error of the operating system.
        error: io::Error,
    },
}

/// Text without characters that control a terminal or begin a line.
struct Printable<'a>(&'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            // These are printable.
            '"' | '\'' | '\\' => write!(f, "{character}"),
            _ => write!(f, "{}", character.escape_debug()),
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Names, ids and errors contain text of others.
        write!(f, "{}", Printable(&self.text()))
    }
}

impl Finding {
    fn text(&self) -> String {
        match self {
            Finding::Gap { segment, first, last } => {
                let count = last - first + 1;
                format!("{segment}: gap: {count} records are missing, {first} to {last}")
            }
            Finding::Duplicate { segment, line, sequence } => {
                format!("{segment}:{line}: duplicate: sequence number {sequence} does not exceed the one before")
            }
            Finding::DuplicateId { segment, line, id } => {
                format!("{segment}:{line}: duplicate: a record with the id `{id}` precedes")
            }
            Finding::Corrupt { segment, line, error } => format!("{segment}:{line}: corrupt: {error}"),
            Finding::TornTail { segment, bytes } => {
                format!("{segment}: torn tail: {bytes} bytes after the last complete record")
            }
            Finding::Misnamed { segment, sequence } => {
                format!("{segment}: wrong name: its first record has the sequence number {sequence}")
            }
            Finding::Unreadable { segment, error } => format!("{segment}: cannot be read: {error}"),
        }
    }
}

/// The records of one replica of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Series {
    /// The number of segments.
    pub segments: u64,
    /// The number of valid records.
    pub records: u64,
    /// The size of all segments.
    pub bytes: u64,
    /// The sequence numbers of the first and the last record.
    pub range: Option<(u64, u64)>,
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The replicas by the prefix of their segments, `<name>_<replica>`.
    pub series: BTreeMap<String, Series>,
    /// The number of defects.
    pub findings: u64,
    /// The number of records with the id of another record. Clients of the API server can choose ids, so that it is no
    /// defect of the log, but can be a sign of an attempt to hide a request.
    pub reused_ids: u64,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (stem, Series { segments, records, bytes, range }) in &self.series {
            let stem = Printable(stem);
            write!(f, "{stem}: {records} records in {segments} segments, {bytes} bytes")?;
            match range {
                Some((first, last)) => writeln!(f, ", sequence numbers {first} to {last}")?,
                None => writeln!(f)?,
            }
        }
        if self.reused_ids > 0 {
            writeln!(f, "{} records have the id of another record", self.reused_ids)?;
        }
        write!(f, "{} findings", self.findings)
    }
}

/// Checks all segments of a directory, and those with audit events in its subdirectory, in constant memory. `report`
/// gets each defect.
///
/// # Errors
/// Fails if the directory cannot be read.
pub fn verify(files: &dyn FileSystem, directory: &Path, report: &mut dyn FnMut(&Finding)) -> io::Result<Summary> {
    let mut names: Vec<_> = files.list(directory)?.into_iter().map(|file| file.name).collect();
    let audit = match files.list(&directory.join(segment::AUDIT_DIRECTORY)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        audit => audit?,
    };
    names.extend(audit.into_iter().map(|file| format!("{}/{}", segment::AUDIT_DIRECTORY, file.name)));
    let mut segments: Vec<_> =
        names.iter().filter_map(|name| segment::split_name(name).map(|(stem, first)| (stem, first, name))).collect();
    segments.sort_unstable();
    let mut summary = Summary::default();
    let mut current: Option<Check> = None;
    for (stem, first, name) in segments {
        let mut check = match current.take() {
            Some(check) if check.stem == stem => check,
            finished => {
                summary.add(finished);
                Check::new(stem)
            }
        };
        check.segment(files, &directory.join(name), name, first, &mut |finding| {
            summary.findings += 1;
            report(&finding);
        });
        current = Some(check);
    }
    summary.add(current);
    Ok(summary)
}

impl Summary {
    fn add(&mut self, check: Option<Check>) {
        if let Some(check) = check {
            self.reused_ids += check.reused_ids;
            self.series.insert(check.stem, check.series);
        }
    }
}

/// The check of one series.
#[derive(Debug)]
struct Check {
    stem: String,
    series: Series,
    keys: Keys,
    ids: Deduplicator,
    reused_ids: u64,
}

impl Check {
    fn new(stem: &str) -> Self {
        let (series, ids) = (Series::default(), Deduplicator::new(REMEMBERED_IDS));
        Check { stem: stem.to_owned(), series, keys: Keys::default(), ids, reused_ids: 0 }
    }

    fn segment(
        &mut self,
        files: &dyn FileSystem,
        path: &Path,
        name: &str,
        first: u64,
        report: &mut dyn FnMut(Finding),
    ) {
        let segment = || name.to_owned();
        let mut is_first = true;
        let scanned = files.read(path).and_then(|reader| {
            segment::scan(reader, |line, record| match record {
                Ok(record) => {
                    if std::mem::take(&mut is_first) && line == 1 && record.sequence != first {
                        report(Finding::Misnamed { segment: segment(), sequence: record.sequence });
                    }
                    self.record(name, line, &record, report);
                }
                Err(error) => report(Finding::Corrupt { segment: segment(), line, error }),
            })
        });
        self.series.segments += 1;
        match scanned {
            Ok(scan) => {
                self.series.bytes += scan.bytes;
                if scan.torn_bytes() > 0 {
                    report(Finding::TornTail { segment: segment(), bytes: scan.torn_bytes() });
                }
            }
            Err(error) => report(Finding::Unreadable { segment: segment(), error }),
        }
    }

    fn record(&mut self, name: &str, line: u64, record: &Record, report: &mut dyn FnMut(Finding)) {
        let (segment, sequence) = (name.to_owned(), record.sequence);
        self.series.records += 1;
        match self.series.range {
            Some((_, last)) if sequence <= last => {
                report(Finding::Duplicate { segment: segment.clone(), line, sequence });
            }
            Some((first, last)) => {
                if sequence - last > 1 {
                    report(Finding::Gap { segment: segment.clone(), first: last + 1, last: sequence - 1 });
                }
                self.series.range = Some((first, sequence));
            }
            None => self.series.range = Some((sequence, sequence)),
        }
        let Some(id) = &record.id else { return };
        let key = self.keys.key(record.source, id, record.body.get());
        match self.ids.find(key) {
            Known::Duplicate => return report(Finding::DuplicateId { segment, line, id: id.clone() }),
            Known::ReusedId => self.reused_ids += 1,
            Known::New => {}
        }
        self.ids.insert(key);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use jiff::Timestamp;

    use super::*;
    use crate::{
        file_system::Disk,
        record::{self, Draft, Source},
    };

    fn line(sequence: u64, id: &str) -> String {
        let draft = Draft::new(Source::Audit, Some(id.to_owned()), serde_json::from_str("{}").unwrap());
        record::encode(sequence, Timestamp::UNIX_EPOCH, &draft)
    }

    /// Writes segments of the log `a`, and returns the findings and the summary as text.
    fn findings(segments: &[(&str, u64, String)]) -> (Vec<String>, String) {
        let directory = tempfile::tempdir().unwrap();
        for (replica, first, content) in segments {
            let series = segment::Series::new(directory.path(), "a", replica).unwrap();
            fs::write(series.path(*first), content).unwrap();
        }
        fs::write(directory.path().join("a_0.lock"), "").unwrap();
        let mut findings = Vec::new();
        let summary = verify(&Disk, directory.path(), &mut |finding| findings.push(finding.to_string())).unwrap();
        assert_eq!(summary.findings, findings.len() as u64);
        (findings, summary.to_string())
    }

    #[test]
    fn a_log_without_defects_has_no_findings() {
        let (first, second) = (line(7, "a") + &line(8, "b"), line(9, "c"));
        let bytes = first.len() + second.len();
        let segments = [("0", 7, first), ("0", 9, second), ("1", 0, String::new())];
        let (findings, summary) = findings(&segments);
        assert_eq!(findings, Vec::<String>::new());
        let expected = format!(
            "a_0: 3 records in 2 segments, {bytes} bytes, sequence numbers 7 to 9\na_1: 0 records in 1 segments"
        );
        assert!(summary.starts_with(&expected), "{summary}");
    }

    #[test]
    fn an_id_of_two_bodies_is_counted_and_no_defect() {
        let body = serde_json::from_str("{\"verb\":\"delete\"}").unwrap();
        let draft = Draft::new(Source::Audit, Some("a".to_owned()), body);
        let reused = record::encode(1, Timestamp::UNIX_EPOCH, &draft);
        let (findings, summary) = findings(&[("0", 0, line(0, "a") + &reused)]);
        assert_eq!(findings, Vec::<String>::new());
        assert!(summary.ends_with("\n1 records have the id of another record\n0 findings"), "{summary}");
    }

    #[test]
    fn every_defect_is_found() {
        let name = |first: u64| format!("a_0-{first:020}.ndjson");
        let (gap, duplicate) = (line(0, "a") + &line(3, "b"), line(3, "c") + &line(4, "b"));
        let torn = line(5, "d") + "broken\n" + "torn";
        let (findings, _) = findings(&[("0", 0, gap), ("0", 4, duplicate), ("0", 5, torn)]);
        assert_eq!(
            findings,
            [
                format!("{}: gap: 2 records are missing, 1 to 2", name(0)),
                format!("{}: wrong name: its first record has the sequence number 3", name(4)),
                format!("{}:1: duplicate: sequence number 3 does not exceed the one before", name(4)),
                format!("{}:2: duplicate: a record with the id `b` precedes", name(4)),
                format!("{}:2: corrupt: the line has no checksum", name(5)),
                format!("{}: torn tail: 4 bytes after the last complete record", name(5)),
            ]
        );
    }

    #[test]
    fn an_id_with_control_characters_prints_no_line() {
        let id = "\u{1b}[2J\n0 findings\u{202e}\\";
        let (findings, _) = findings(&[("0", 0, line(0, id) + &line(1, id))]);
        let name = "a_0-00000000000000000000.ndjson";
        let text = "duplicate: a record with the id `\\u{1b}[2J\\n0 findings\\u{202e}\\` precedes";
        assert_eq!(findings, [format!("{name}:2: {text}")]);
    }
}
