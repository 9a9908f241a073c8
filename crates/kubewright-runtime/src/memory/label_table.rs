//! The labels of compact objects: pairs that several objects have are stored once.

use std::{collections::BTreeMap, hash::BuildHasher};

use hashbrown::{DefaultHashBuilder, HashTable};
use parking_lot::{RwLock, RwLockReadGuard};

/// The maximum number of shared pairs. Of a kind with more, the first ones are shared.
const MAX_PAIRS: u16 = 4096;
/// The number that precedes a pair that is not shared.
const INLINE: u16 = u16::MAX;
/// Ends the keys and the values. The API server permits it in neither.
const END: char = '\0';

/// The pairs that objects share. It grows up to [`MAX_PAIRS`].
#[derive(Default)]
pub(super) struct LabelTable(RwLock<SharedPairs>);

/// Numbered pairs, each as `key`, [`END`], `value`, [`END`].
#[derive(Default)]
pub(super) struct SharedPairs {
    pairs: Vec<Box<str>>,
    numbers: HashTable<u16>,
    hasher: DefaultHashBuilder,
}

impl LabelTable {
    /// Appends labels to the bytes of an object: for each pair its number, or the pair itself. Returns `false` if this
    /// is not possible, because a text contains [`END`].
    pub(super) fn encode(&self, labels: &BTreeMap<String, String>, bytes: &mut Vec<u8>) -> bool {
        let mut shared = self.0.write();
        let mut pair = String::new();
        for (key, value) in labels {
            if key.contains(END) || value.contains(END) {
                return false;
            }
            pair.clear();
            for text in [key, value] {
                pair.push_str(text);
                pair.push(END);
            }
            let number = shared.number(&pair);
            bytes.extend_from_slice(&number.unwrap_or(INLINE).to_le_bytes());
            if number.is_none() {
                bytes.extend_from_slice(pair.as_bytes());
            }
        }
        true
    }

    /// Returns the pairs for reading labels.
    pub(super) fn read(&self) -> RwLockReadGuard<'_, SharedPairs> {
        self.0.read()
    }
}

impl SharedPairs {
    /// Returns the value of a label in encoded labels.
    pub(super) fn find<'a>(&'a self, mut labels: &'a [u8], key: &str) -> Option<&'a str> {
        while let Some((number, rest)) = labels.split_first_chunk() {
            let number = u16::from_le_bytes(*number);
            let inline = if number == INLINE { inline_pair(rest) } else { "" };
            labels = rest.get(inline.len()..)?;
            let pair = if number == INLINE { inline } else { &**self.pairs.get(usize::from(number))? };
            let (found, value) = pair.split_once(END)?;
            if found == key {
                return value.strip_suffix(END);
            }
        }
        None
    }

    /// Returns the number of a pair, which is added if there is room.
    fn number(&mut self, pair: &str) -> Option<u16> {
        let SharedPairs { pairs, numbers, hasher } = self;
        let text = |number: &u16| pairs.get(usize::from(*number)).map_or("", |pair| &**pair);
        let hash = hasher.hash_one(pair);
        if let Some(number) = numbers.find(hash, |number| text(number) == pair) {
            return Some(*number);
        }
        let number = u16::try_from(pairs.len()).ok().filter(|number| *number < MAX_PAIRS)?;
        numbers.insert_unique(hash, number, |number| hasher.hash_one(text(number)));
        pairs.push(pair.into());
        Some(number)
    }
}

/// Returns the pair at the start of these bytes.
fn inline_pair(bytes: &[u8]) -> &str {
    let mut ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == 0);
    let pair = ends.nth(1).and_then(|(end, _)| bytes.get(..=end)).unwrap_or_default();
    std::str::from_utf8(pair).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    fn encode(table: &LabelTable, pairs: &[(&str, &str)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        assert!(table.encode(&labels(pairs), &mut bytes));
        bytes
    }

    #[test]
    fn equal_pairs_are_stored_once() {
        let table = LabelTable::default();
        let bytes = encode(&table, &[("app", "web"), ("tier", "")]);
        assert_eq!((bytes.len(), &bytes), (4, &encode(&table, &[("app", "web"), ("tier", "")])));
        let shared = table.read();
        let find = |key| shared.find(&bytes, key);
        assert_eq!((find("app"), find("tier"), find("ap"), find("web")), (Some("web"), Some(""), None, None));
        assert_eq!(shared.find(&[], "app"), None);
    }

    #[test]
    fn pairs_beyond_the_maximum_are_stored_with_the_object() {
        let table = LabelTable::default();
        (0..MAX_PAIRS).for_each(|number| drop(encode(&table, &[("number", &number.to_string())])));
        let bytes = encode(&table, &[("a", "ü"), ("b", ""), ("number", "7"), ("z", "last")]);
        let shared = table.read();
        assert_eq!(shared.pairs.len(), usize::from(MAX_PAIRS));
        let expected = [("a", Some("ü")), ("b", Some("")), ("c", None), ("number", Some("7")), ("z", Some("last"))];
        assert!(expected.iter().all(|(key, value)| shared.find(&bytes, key) == *value), "{bytes:?}");
    }

    #[test]
    fn texts_that_contain_the_end_are_not_encoded() {
        let (table, mut bytes) = (LabelTable::default(), Vec::new());
        assert!(!table.encode(&labels(&[("a\0b", "c")]), &mut bytes));
        assert!(!table.encode(&labels(&[("a", "\0")]), &mut bytes));
    }
}
