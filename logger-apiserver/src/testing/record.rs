//! A record of what was sent, the latest of it: bounded in number and in bytes.

use std::collections::VecDeque;

#[derive(Debug)]
pub(crate) struct Record<T> {
    /// Each with its bytes.
    entries: VecDeque<(T, usize)>,
    bytes: usize,
    limit: usize,
    byte_limit: usize,
    forgotten: u64,
}

impl<T> Record<T> {
    pub(crate) fn new(limit: usize, byte_limit: usize) -> Self {
        Self { entries: VecDeque::new(), bytes: 0, limit, byte_limit, forgotten: 0 }
    }

    /// Adds an entry of so many bytes, and forgets the oldest for it.
    pub(crate) fn note(&mut self, entry: T, bytes: usize) {
        self.entries.push_back((entry, bytes));
        self.bytes += bytes;
        while self.entries.len() > self.limit || self.bytes > self.byte_limit {
            let Some((_, bytes)) = self.entries.pop_front() else { break };
            self.bytes -= bytes;
            self.forgotten += 1;
        }
    }

    /// The entries, the oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|(entry, _)| entry)
    }

    /// How many entries were noted and are not there any more.
    pub(crate) fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.forgotten += self.entries.len() as u64;
        self.entries.clear();
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten_for_number_and_for_bytes() {
        let mut record = Record::new(3, 10);
        for (entry, bytes) in [("a", 1), ("b", 1), ("c", 1), ("d", 1)] {
            record.note(entry, bytes);
        }
        assert_eq!((record.iter().copied().collect::<String>(), record.forgotten()), ("bcd".into(), 1));
        record.note("e", 9);
        assert_eq!((record.iter().copied().collect::<String>(), record.forgotten()), ("de".into(), 3));
        record.note("f", 11);
        assert_eq!((record.iter().count(), record.forgotten(), record.bytes), (0, 6, 0));
        record.note("g", 10);
        record.clear();
        assert_eq!((record.iter().count(), record.forgotten(), record.bytes), (0, 7, 0));
    }
}
