//! The logs of containers that are local processes: a file for each start, which is read completely, from its last
//! lines on, or until the container has ended.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    path::PathBuf,
    time::Duration,
};

use bytes::Bytes;
use tokio::time::sleep;

/// The size of the parts that a log is read in.
const BLOCK: u16 = 16 << 10;
/// The interval between two reads of a log that is followed.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(200);

/// Which part of a log is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LogOptions {
    pub(super) follow: bool,
    /// Of the container before the last restart.
    pub(super) previous: bool,
    pub(super) tail_lines: Option<u64>,
    pub(super) limit_bytes: Option<u64>,
}

impl LogOptions {
    /// Parses the query of a request for a log.
    ///
    /// # Errors
    /// Returns the reason why it is rejected.
    pub(super) fn parse(query: &str) -> Result<Self, String> {
        let mut options = LogOptions::default();
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            let is_set = value != "0" && !value.eq_ignore_ascii_case("false");
            let number = || value.parse().map(Some).map_err(|_| format!("invalid {name} {value:?}: expected a number"));
            match name {
                "follow" => options.follow = is_set,
                "previous" => options.previous = is_set,
                "tailLines" => options.tail_lines = number()?,
                "limitBytes" => options.limit_bytes = number()?,
                "timestamps" if !is_set => {}
                "timestamps" | "sinceSeconds" | "sinceTime" => {
                    return Err(format!("{name} is not implemented: the times of lines are not recorded"));
                }
                _ => {}
            }
        }
        Ok(options)
    }
}

/// The files of one container, by the number of restarts before them.
pub(super) struct LogFiles {
    directory: PathBuf,
}

impl LogFiles {
    /// Creates the files in the directory of a container.
    pub(super) fn new(directory: impl Into<PathBuf>) -> Self {
        LogFiles { directory: directory.into() }
    }

    /// Returns the path of the file of a start.
    pub(super) fn path(&self, restarts: u32) -> PathBuf {
        self.directory.join(format!("{restarts}.log"))
    }

    /// Returns the numbers of restarts with a file, sorted.
    fn restarts(&self) -> Vec<u32> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let mut restarts: Vec<u32> =
            entries.filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".log")?.parse().ok()).collect();
        restarts.sort_unstable();
        restarts
    }

    /// Opens the log of the last start, or of the one before it; `None` if there is none.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub(super) fn open(self, options: LogOptions) -> io::Result<Option<Log>> {
        let restarts = self.restarts();
        let Some(number) = restarts.into_iter().rev().nth(usize::from(options.previous)) else { return Ok(None) };
        let mut file = File::open(self.path(number))?;
        let start = match options.tail_lines {
            Some(lines) => start_of_tail(&mut file, lines)?,
            None => 0,
        };
        file.seek(SeekFrom::Start(start))?;
        let remaining = options.limit_bytes.unwrap_or(u64::MAX);
        Ok(Some(Log { next: self.path(number + 1), file, remaining, follows: options.follow && !options.previous }))
    }
}

/// A log that is being read.
#[derive(Debug)]
pub(super) struct Log {
    file: File,
    /// The log of the next start.
    next: PathBuf,
    remaining: u64,
    follows: bool,
}

impl Log {
    /// Reads the next part. A log that is followed ends when the container has ended.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub(super) async fn read(&mut self, has_ended: impl Fn() -> bool) -> io::Result<Option<Bytes>> {
        loop {
            // Determined before the file is read, so that nothing that was written before the end is omitted.
            let is_last = !self.follows || has_ended() || self.next.exists();
            let mut block = Vec::new();
            let length = u64::from(BLOCK).min(self.remaining);
            (&self.file).take(length).read_to_end(&mut block)?;
            self.remaining -= block.len() as u64;
            match block.is_empty() {
                false => return Ok(Some(block.into())),
                true if is_last || self.remaining == 0 => return Ok(None),
                true => sleep(FOLLOW_INTERVAL).await,
            }
        }
    }
}

/// Returns where the last lines of a file start. Reads the file backwards, in constant memory.
fn start_of_tail(file: &mut File, lines: u64) -> io::Result<u64> {
    let end = file.seek(SeekFrom::End(0))?;
    if lines == 0 {
        return Ok(end);
    }
    let (mut position, mut found) = (end, 0);
    let mut block = Vec::with_capacity(usize::from(BLOCK));
    while position > 0 {
        let length = u64::from(BLOCK).min(position);
        position -= length;
        file.seek(SeekFrom::Start(position))?;
        block.clear();
        Read::by_ref(file).take(length).read_to_end(&mut block)?;
        // A line starts after a newline, except for the one that ends the file.
        let starts: Vec<_> = (position + 1..).zip(&block).filter(|(_, byte)| **byte == b'\n').collect();
        for (start, _) in starts.into_iter().rev().filter(|(start, _)| *start < end) {
            found += 1;
            if found == lines {
                return Ok(start);
            }
        }
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(log: &mut Log) -> String {
        let mut text = Vec::new();
        while let Some(part) = log.read(|| true).await.unwrap() {
            text.extend_from_slice(&part);
        }
        String::from_utf8(text).unwrap()
    }

    async fn log(directory: &tempfile::TempDir, query: &str) -> Option<String> {
        let options = LogOptions::parse(query).unwrap();
        let mut log = LogFiles::new(directory.path()).open(options).unwrap()?;
        Some(read(&mut log).await)
    }

    #[tokio::test]
    async fn the_requested_part_of_the_last_or_the_previous_log_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let file = |restarts: u32| LogFiles::new(directory.path()).path(restarts);
        fs::write(file(9), "old\n").unwrap();
        assert_eq!(log(&directory, "previous=true").await, None);
        fs::write(file(10), "a\nb\nc\n").unwrap();
        for (query, expected) in [
            ("", "a\nb\nc\n"),
            ("follow=true", "a\nb\nc\n"),
            ("previous=true", "old\n"),
            ("tailLines=0", ""),
            ("tailLines=2&container=main", "b\nc\n"),
            ("tailLines=9", "a\nb\nc\n"),
            ("limitBytes=3", "a\nb"),
            ("timestamps=false&tailLines=1", "c\n"),
        ] {
            assert_eq!(log(&directory, query).await.as_deref(), Some(expected), "{query}");
        }
        fs::write(file(10), "x\n".repeat(20_000) + "incomplete").unwrap();
        assert_eq!(log(&directory, "tailLines=2").await.as_deref(), Some("x\nincomplete"));
        assert_eq!(log(&directory, "tailLines=20001").await.map(|text| text.len()), Some(40_010));
    }

    #[tokio::test(start_paused = true)]
    async fn a_followed_log_ends_with_its_container() {
        let directory = tempfile::tempdir().unwrap();
        let files = LogFiles::new(directory.path());
        fs::write(files.path(0), "a\n").unwrap();
        let mut log = files.open(LogOptions { follow: true, ..LogOptions::default() }).unwrap().unwrap();
        assert_eq!(log.read(|| false).await.unwrap().unwrap(), "a\n");
        fs::write(directory.path().join("0.log"), "a\nb\n").unwrap();
        assert_eq!(log.read(|| false).await.unwrap().unwrap(), "b\n");
        fs::write(directory.path().join("1.log"), "").unwrap();
        assert_eq!(log.read(|| false).await.unwrap(), None);
    }

    #[test]
    fn unusable_options_are_rejected() {
        assert_eq!(LogOptions::parse("tailLines=x").unwrap_err(), "invalid tailLines \"x\": expected a number");
        assert!(LogOptions::parse("timestamps=true").unwrap_err().starts_with("timestamps is not implemented"));
    }
}
