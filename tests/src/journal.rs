//! The journal of a replica: what it reconciled when, on a clock that all processes of the host share.

use std::{
    fmt,
    fs::{self, File},
    io::{self, Write},
    net::SocketAddr,
    path::Path,
    sync::Arc,
    time::Duration,
};

use kubewright_runtime::sharding::SlotSet;
use rustix::time::{ClockId, clock_gettime};

/// Returns the time on the monotonic clock of the host.
///
/// # Panics
/// If the clock has an invalid time.
pub fn now() -> Duration {
    let time = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(time.tv_sec).expect("the clock starts at zero");
    Duration::new(seconds, u32::try_from(time.tv_nsec).expect("less than a second"))
}

/// What happened in a replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// It serves health checks and metrics on this address.
    Serving(SocketAddr),
    /// It reconciles the keys of these slots from now on, and no others.
    Slots(SlotSet),
    /// The reconciliation of this key started.
    Started(String),
    /// The reconciliation of this key is about to write the object.
    Writing(String),
    /// The reconciliation of this key ended, with or without an error.
    Ended(String),
    /// The reconciliation of this key was cancelled.
    Dropped(String),
}

/// A line of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The time on the clock of [`now`].
    pub at: Duration,
    /// What happened.
    pub event: Event,
}

/// The file to which a replica appends entries. Clones append to the same file.
#[derive(Clone, Debug)]
pub struct Journal(Arc<File>);

impl Journal {
    /// Creates the file.
    ///
    /// # Errors
    /// Fails if it exists or cannot be created.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Journal(Arc::new(File::options().append(true).create_new(true).open(path)?)))
    }

    /// Appends an entry. A process that is killed leaves complete lines.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn record(&self, event: &Event) {
        let line = format!("{} {event}\n", now().as_nanos());
        (&*self.0).write_all(line.as_bytes()).expect("the journal can be written");
    }

    /// Records the start of a reconciliation. Its end is recorded by [`Reconciliation::end`], or on drop.
    pub fn start(&self, key: impl fmt::Display) -> Reconciliation {
        let key = key.to_string();
        self.record(&Event::Started(key.clone()));
        Reconciliation { journal: self.clone(), key, has_ended: false }
    }
}

/// A running reconciliation.
#[derive(Debug)]
pub struct Reconciliation {
    journal: Journal,
    key: String,
    has_ended: bool,
}

impl Reconciliation {
    /// Records that the object is about to be written.
    pub fn write(&self) {
        self.journal.record(&Event::Writing(self.key.clone()));
    }

    /// Records the end.
    pub fn end(mut self) {
        self.has_ended = true;
        self.journal.record(&Event::Ended(self.key.clone()));
    }
}

impl Drop for Reconciliation {
    fn drop(&mut self) {
        if !self.has_ended {
            self.journal.record(&Event::Dropped(self.key.clone()));
        }
    }
}

/// Reads the complete lines of a journal. There are none if the file does not exist yet.
///
/// # Panics
/// If a line is invalid.
pub fn read(path: &Path) -> Vec<Entry> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let complete = text.rfind('\n').map_or("", |end| &text[..end]);
    complete.lines().map(|line| Entry::parse(line).unwrap_or_else(|| panic!("invalid entry `{line}`"))).collect()
}

impl Entry {
    /// Parses a line such as `17 started a/b`, with the time in nanoseconds.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let mut words = line.splitn(3, ' ');
        let at = Duration::from_nanos(words.next()?.parse().ok()?);
        let (name, argument) = (words.next()?, words.next()?);
        let event = match name {
            "serving" => Event::Serving(argument.parse().ok()?),
            "slots" => Event::Slots(argument.parse().ok()?),
            "started" => Event::Started(argument.to_owned()),
            "writing" => Event::Writing(argument.to_owned()),
            "ended" => Event::Ended(argument.to_owned()),
            "dropped" => Event::Dropped(argument.to_owned()),
            _ => return None,
        };
        Some(Entry { at, event })
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Serving(address) => write!(f, "serving {address}"),
            Event::Slots(slots) => write!(f, "slots {slots}"),
            Event::Started(key) => write!(f, "started {key}"),
            Event::Writing(key) => write!(f, "writing {key}"),
            Event::Ended(key) => write!(f, "ended {key}"),
            Event::Dropped(key) => write!(f, "dropped {key}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_as_they_were_recorded() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        assert_eq!(read(&path), []);
        let journal = Journal::create(&path).unwrap();
        let before = now();
        let address = "127.0.0.1:8080".parse().unwrap();
        journal.record(&Event::Serving(address));
        let slots = ["0-12,14", ""].map(|slots| Event::Slots(slots.parse().unwrap()));
        slots.iter().for_each(|slots| journal.record(slots));
        let reconciliation = journal.start("a/b");
        reconciliation.write();
        reconciliation.end();
        drop(journal.start("a/c"));
        let entries = read(&path);
        let events: Vec<_> = entries.iter().map(|entry| entry.event.clone()).collect();
        let key = || "a/b".to_owned();
        let other = || "a/c".to_owned();
        let [some, none] = slots;
        let expected = [
            Event::Serving(address),
            some,
            none,
            Event::Started(key()),
            Event::Writing(key()),
            Event::Ended(key()),
            Event::Started(other()),
            Event::Dropped(other()),
        ];
        assert_eq!(events, expected);
        assert!(entries.is_sorted_by_key(|entry| entry.at) && before <= entries[0].at);
    }

    #[test]
    fn an_incomplete_line_is_ignored() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        fs::write(&path, "1 started a/b\n2 star").unwrap();
        let at = Duration::from_nanos(1);
        assert_eq!(read(&path), [Entry { at, event: Event::Started("a/b".to_owned()) }]);
    }
}
