//! Segments: the files of a log. Their names are ordered, and each contains records of consecutive sequence numbers.

use std::{
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use kubewright_names::validation;

use crate::record::{self, MAX_LINE, MAX_SEQUENCE, Record, RecordError};

/// The extension of segments.
const EXTENSION: &str = ".ndjson";

/// The subdirectory of the segments with audit events, if they have dedicated ones.
pub const AUDIT_DIRECTORY: &str = "audit";

/// The number of digits of the sequence number in a name: names are ordered as the numbers are.
const DIGITS: usize = 20;

/// The maximum length of a file name on Linux.
const MAX_NAME: usize = 255;

/// The buffer of a reader.
const BUFFER: usize = 64 << 10;

/// The separator of the names of the log and of the replica, which neither can contain.
const SEPARATOR: char = '_';

/// The segments of one replica of a log: `<name>_<replica>-<sequence>.ndjson`, where the sequence number is that of the
/// first record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    directory: PathBuf,
    /// The subdirectory of the log, with a slash; empty without one.
    subdirectory: String,
    stem: String,
}

/// A name that cannot be part of a file name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// The name of the log or of the replica is not the name of an object.
    #[error("invalid {what} `{name}`: {reason}")]
    Invalid {
        /// `name of the log` or `name of the replica`.
        what: &'static str,
        /// The name.
        name: String,
        /// The rule that it violates.
        reason: String,
    },
    /// The names of the files would be too long.
    #[error("`{stem}` is too long for file names: it has {} characters, expected at most {max}", .stem.len())]
    TooLong {
        /// The names of the log and of the replica.
        stem: String,
        /// The maximum length.
        max: usize,
    },
}

impl Series {
    /// Creates the names of the segments of a replica.
    ///
    /// # Errors
    /// Fails if a name is not a DNS subdomain, or if the names of the files would be too long.
    pub fn new(directory: impl Into<PathBuf>, name: &str, replica: &str) -> Result<Self, NameError> {
        for (what, name) in [("name of the log", name), ("name of the replica", replica)] {
            if let Some(reason) = validation::dns_1123_subdomain(name).into_iter().next() {
                return Err(NameError::Invalid { what, name: name.to_owned(), reason });
            }
        }
        let (stem, max) = (format!("{name}{SEPARATOR}{replica}"), MAX_NAME - 1 - DIGITS - EXTENSION.len());
        match stem.len() <= max {
            true => Ok(Series { directory: directory.into(), subdirectory: String::new(), stem }),
            false => Err(NameError::TooLong { stem, max }),
        }
    }

    /// Returns the directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the same log and replica in a subdirectory.
    #[must_use]
    pub fn in_directory(&self, name: &str) -> Self {
        let subdirectory = format!("{}{name}/", self.subdirectory);
        Series { directory: self.directory.join(name), subdirectory, stem: self.stem.clone() }
    }

    /// Returns the path of the segment whose first record has this sequence number.
    #[must_use]
    pub fn path(&self, first: u64) -> PathBuf {
        self.directory.join(self.file_name(first))
    }

    /// Returns the name of this segment.
    #[must_use]
    pub fn file_name(&self, first: u64) -> String {
        format!("{}-{first:020}{EXTENSION}", self.stem)
    }

    /// Returns the name of this segment in the directory of the log, for reports.
    #[must_use]
    pub fn relative_path(&self, first: u64) -> String {
        self.subdirectory.clone() + &self.file_name(first)
    }

    /// Returns the path of the file that the writer of the series locks.
    #[must_use]
    pub fn lock_path(&self) -> PathBuf {
        self.directory.join(format!("{}.lock", self.stem))
    }

    /// Returns the first sequence number of a segment of this series; `None` for other files.
    #[must_use]
    pub fn parse(&self, file_name: &str) -> Option<u64> {
        let (stem, first) = split_name(file_name)?;
        (stem == self.stem && first <= MAX_SEQUENCE).then_some(first)
    }
}

/// Returns whether a path has the extension of segments.
#[must_use]
pub fn is_segment(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(EXTENSION.as_bytes())
}

/// Splits the name of a segment into the names of its log and replica, and its first sequence number.
#[must_use]
pub fn split_name(file_name: &str) -> Option<(&str, u64)> {
    let (stem, digits) = file_name.strip_suffix(EXTENSION)?.rsplit_once('-')?;
    let is_number = digits.len() == DIGITS && digits.bytes().all(|digit| digit.is_ascii_digit());
    Some((stem, digits.parse().ok().filter(|_| is_number)?))
}

/// The lines of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// The size of the segment.
    pub bytes: u64,
    /// The size without a torn tail: that of all lines with a newline.
    pub complete_bytes: u64,
    /// The number of lines with a newline.
    pub lines: u64,
    /// The number of these lines that are not valid records.
    pub corrupt_lines: u64,
}

impl Scan {
    /// Returns the size of the torn tail: the bytes after the last newline.
    #[must_use]
    pub fn torn_bytes(&self) -> u64 {
        self.bytes - self.complete_bytes
    }

    fn add_line(&mut self, record: &Result<Record, RecordError>) {
        self.lines += 1;
        self.complete_bytes = self.bytes;
        self.corrupt_lines += u64::from(record.is_err());
    }
}

/// Reads the lines of a segment in constant memory. `visit` gets the number of each line, from 1 on, and its record.
/// A torn tail is not a line.
///
/// # Errors
/// Fails if the segment cannot be read.
pub fn scan(reader: impl Read, mut visit: impl FnMut(u64, Result<Record, RecordError>)) -> io::Result<Scan> {
    let mut reader = BufReader::with_capacity(BUFFER, reader);
    let (mut scan, mut line, mut is_too_long) = (Scan::default(), Vec::new(), false);
    loop {
        line.clear();
        let count = (&mut reader).take(MAX_LINE).read_until(b'\n', &mut line)?;
        if count == 0 {
            return Ok(scan);
        }
        scan.bytes += count as u64;
        if line.pop_if(|last| *last == b'\n').is_none() {
            is_too_long |= count as u64 == MAX_LINE;
            continue;
        }
        let record = if is_too_long { Err(RecordError::TooLong) } else { record::parse(&line) };
        is_too_long = false;
        scan.add_line(&record);
        visit(scan.lines, record);
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use proptest::prelude::*;

    use super::*;
    use crate::record::{Draft, Source};

    fn lines(count: u64) -> Vec<String> {
        let draft = |number: u64| {
            let body = format!("{{\"number\":{number}}}");
            Draft::new(Source::Activity, Some(number.to_string()), serde_json::from_str(&body).unwrap())
        };
        (0..count).map(|number| record::encode(number, Timestamp::UNIX_EPOCH, &draft(number))).collect()
    }

    /// Returns the sequence numbers of the valid records.
    fn sequences(bytes: &[u8]) -> (Scan, Vec<u64>) {
        let mut sequences = Vec::new();
        let scan = scan(bytes, |_, record| sequences.extend(record.map(|record| record.sequence))).unwrap();
        (scan, sequences)
    }

    #[test]
    fn names_are_ordered_as_their_sequence_numbers_are() {
        let series = Series::new("/data", "access-log", "web-7f4-x2.a").unwrap();
        let path = series.path(42);
        assert_eq!(path, Path::new("/data/access-log_web-7f4-x2.a-00000000000000000042.ndjson"));
        assert_eq!(series.parse(path.file_name().unwrap().to_str().unwrap()), Some(42));
        assert!(series.path(9) < series.path(10) && series.path(10) < series.path(u64::MAX));
        for other in [
            "access-log_web-7f4-x2.b-00000000000000000042.ndjson",
            "access-log_web-7f4-x2.a-42.ndjson",
            "access-log_web-7f4-x2.a-+0000000000000000042.ndjson",
            "access-log_web-7f4-x2.a-99999999999999999999.ndjson",
            "access-log_web-7f4-x2.a-09007199254740992.ndjson",
            "access-log_web-7f4-x2.a-00009007199254740992.ndjson",
            "access-log_web-7f4-x2.a-00000000000000000042.json",
            "access-log_web-7f4-x2.a.lock",
        ] {
            assert_eq!(series.parse(other), None, "{other}");
        }
    }

    #[test]
    fn two_logs_do_not_have_the_same_files() {
        let dashed_namespace = Series::new("/data", "a-b", "c").unwrap();
        let dashed_name = Series::new("/data", "a", "b-c").unwrap();
        assert_ne!(dashed_namespace.lock_path(), dashed_name.lock_path());
        assert_eq!(dashed_namespace.in_directory("audit").relative_path(7), "audit/a-b_c-00000000000000000007.ndjson");
        assert_eq!(dashed_name.parse(&dashed_namespace.file_name(0)), None);
    }

    #[test]
    fn names_that_cannot_be_file_names_are_rejected() {
        for name in ["", ".", "..", "a/b", "a\0", "A", "a b", "-a", "ä"] {
            let error = Series::new("/data", name, "0").unwrap_err().to_string();
            assert!(error.starts_with(&format!("invalid name of the log `{name}`: ")), "{error}");
            assert!(Series::new("/data", "a", name).is_err(), "{name}");
        }
        let error = Series::new("/data", &"a".repeat(200), &"b".repeat(27)).unwrap_err().to_string();
        assert!(error.ends_with("is too long for file names: it has 228 characters, expected at most 227"), "{error}");
        Series::new("/data", &"a".repeat(200), &"b".repeat(26)).unwrap();
    }

    #[test]
    fn a_line_longer_than_the_limit_is_one_corrupt_line() {
        let mut bytes = vec![b'x'; usize::try_from(MAX_LINE).unwrap() * 2 + 5];
        bytes.push(b'\n');
        bytes.extend(lines(1)[0].bytes());
        let (scan, found) = sequences(&bytes);
        assert_eq!((scan.lines, scan.corrupt_lines, scan.torn_bytes()), (2, 1, 0));
        assert_eq!(found, [0]);
    }

    #[test]
    fn a_file_truncated_at_any_byte_has_its_complete_records() {
        let lines = lines(5);
        let bytes = lines.concat().into_bytes();
        for length in 0..=bytes.len() {
            let (scan, found) = sequences(&bytes[..length]);
            let mut complete = 0;
            let expected = lines.iter().take_while(|line| {
                complete += line.len();
                complete <= length
            });
            let expected = expected.count() as u64;
            assert_eq!(found, (0..expected).collect::<Vec<_>>(), "{length} bytes");
            assert_eq!(scan.corrupt_lines, 0, "{length} bytes");
            assert_eq!(scan.complete_bytes, lines.iter().take(found.len()).map(|line| line.len() as u64).sum::<u64>());
        }
    }

    proptest! {
        #[test]
        fn a_changed_byte_loses_no_other_record(at in 0_usize..600, value: u8) {
            let lines = lines(5);
            let mut bytes = lines.concat().into_bytes();
            let at = at % bytes.len();
            let changed = bytes[at] != value;
            bytes[at] = value;
            let (_, found) = sequences(&bytes);
            let mut end = 0;
            for (number, line) in (0_u64..).zip(&lines) {
                let range = end..end + line.len();
                end = range.end;
                // A newline belongs to the record before it and, if it is missing, to the one after it.
                let is_affected = changed && (range.contains(&at) || at + 1 == range.start);
                prop_assert!(is_affected || found.contains(&number), "record {}", number);
            }
            prop_assert!(!changed || found.len() < 5);
        }
    }
}
