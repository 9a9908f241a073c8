//! A bounded record of the latest entries.

use std::collections::VecDeque;

/// Retains the latest entries, bounded in number and in total size.
#[derive(Debug)]
pub(crate) struct Record<T> {
    /// Each entry with its size in bytes.
    entries: VecDeque<(T, usize)>,
    bytes: usize,
    limit: usize,
    byte_limit: usize,
    dropped: u64,
}

impl<T> Record<T> {
    pub(crate) fn new(limit: usize, byte_limit: usize) -> Self {
        Self { entries: VecDeque::new(), bytes: 0, limit, byte_limit, dropped: 0 }
    }

    /// Adds an entry of this size, and drops the oldest ones to stay within the limits.
    pub(crate) fn push(&mut self, entry: T, bytes: usize) {
        self.entries.push_back((entry, bytes));
        self.bytes += bytes;
        while self.entries.len() > self.limit || self.bytes > self.byte_limit {
            let Some((_, bytes)) = self.entries.pop_front() else { break };
            self.bytes -= bytes;
            self.dropped += 1;
        }
    }

    /// Iterates over the entries, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|(entry, _)| entry)
    }

    /// Returns the number of dropped entries.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Drops all entries.
    pub(crate) fn clear(&mut self) {
        self.dropped += self.entries.len() as u64;
        self.entries.clear();
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_entries_are_dropped_beyond_the_limits_of_number_and_size() {
        let mut record = Record::new(3, 10);
        for (entry, bytes) in [("a", 1), ("b", 1), ("c", 1), ("d", 1)] {
            record.push(entry, bytes);
        }
        assert_eq!((record.iter().copied().collect::<String>(), record.dropped()), ("bcd".into(), 1));
        record.push("e", 9);
        assert_eq!((record.iter().copied().collect::<String>(), record.dropped()), ("de".into(), 3));
        record.push("f", 11);
        assert_eq!((record.iter().count(), record.dropped(), record.bytes), (0, 6, 0));
        record.push("g", 10);
        record.clear();
        assert_eq!((record.iter().count(), record.dropped(), record.bytes), (0, 7, 0));
    }
}
