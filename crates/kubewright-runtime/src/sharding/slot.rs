//! Slots: the parts of the hash space that are assigned to replicas.

use std::{fmt, str::FromStr};

/// The number of slots. It is fixed, so that replicas of different versions agree on the slot of an object.
pub const SLOTS: u8 = 64;

/// The number of bits of a hash that do not select the slot.
const HASH_SHIFT: u32 = u64::BITS - SLOTS.trailing_zeros();

/// One of [`SLOTS`] equal parts of the hash space. An object is in the same slot for as long as it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(u8);

impl Slot {
    /// Returns the slot of a hash.
    pub(crate) fn from_hash(hash: u64) -> Self {
        Slot((hash >> HASH_SHIFT) as u8)
    }

    /// Returns the index, from 0.
    pub fn index(self) -> u8 {
        self.0
    }

    /// Returns all slots in order.
    pub(crate) fn all() -> impl Iterator<Item = Slot> {
        (0..SLOTS).map(Slot)
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A set of slots. Its text is that of ranges, such as `0-12,14`.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct SlotSet(u64);

impl SlotSet {
    /// No slots.
    pub const EMPTY: SlotSet = SlotSet(0);
    /// All slots.
    pub const ALL: SlotSet = SlotSet(u64::MAX);

    /// Returns whether the slot is in the set.
    #[must_use]
    pub fn contains(self, slot: Slot) -> bool {
        self.0 & bit(slot) != 0
    }

    /// Returns the number of slots.
    #[must_use]
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Returns whether there are no slots.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the slots in order.
    pub fn iter(self) -> impl Iterator<Item = Slot> {
        Slot::all().filter(move |slot| self.contains(*slot))
    }

    pub(crate) fn insert(&mut self, slot: Slot) {
        self.0 |= bit(slot);
    }

    #[cfg(test)]
    pub(crate) fn remove(&mut self, slot: Slot) {
        self.0 &= !bit(slot);
    }

    /// Returns the slots that are in either set.
    #[must_use]
    pub(crate) fn union(self, other: SlotSet) -> SlotSet {
        SlotSet(self.0 | other.0)
    }

    /// Returns the slots that are in both sets.
    #[must_use]
    pub(crate) fn intersection(self, other: SlotSet) -> SlotSet {
        SlotSet(self.0 & other.0)
    }

    /// Returns the slots that are not in the other set.
    #[must_use]
    pub(crate) fn difference(self, other: SlotSet) -> SlotSet {
        SlotSet(self.0 & !other.0)
    }

    /// Returns whether the other set has all these slots.
    #[must_use]
    pub(crate) fn is_subset(self, other: SlotSet) -> bool {
        self.difference(other).is_empty()
    }

    /// Returns the first and the last index of each run of adjacent slots, in order.
    pub(crate) fn runs(self) -> Vec<(u8, u8)> {
        let mut runs: Vec<(u8, u8)> = Vec::new();
        for Slot(index) in self.iter() {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == index => *last = index,
                _ => runs.push((index, index)),
            }
        }
        runs
    }
}

fn bit(Slot(index): Slot) -> u64 {
    1 << index
}

impl FromIterator<Slot> for SlotSet {
    fn from_iter<I: IntoIterator<Item = Slot>>(slots: I) -> Self {
        let mut set = SlotSet::EMPTY;
        slots.into_iter().for_each(|slot| set.insert(slot));
        set
    }
}

impl fmt::Display for SlotSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (first, last)) in self.runs().into_iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            match first == last {
                true => write!(f, "{comma}{first}")?,
                false => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for SlotSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

/// A text that is not a set of slots.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid slots `{0}`: expected ranges of 0 to {last}, such as `0-12,14`", last = SLOTS - 1)]
pub struct ParseSlotsError(String);

impl FromStr for SlotSet {
    type Err = ParseSlotsError;

    fn from_str(text: &str) -> Result<Self, ParseSlotsError> {
        let run = |run: &str| {
            let (first, last) = run.split_once('-').unwrap_or((run, run));
            let (first, last) = (first.parse::<u8>().ok()?, last.parse::<u8>().ok()?);
            (first <= last && last < SLOTS).then_some(first..=last)
        };
        let runs: Option<Vec<_>> = text.split(',').filter(|run| !run.is_empty()).map(run).collect();
        let runs = runs.ok_or_else(|| ParseSlotsError(text.to_owned()))?;
        Ok(runs.into_iter().flatten().map(Slot).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> SlotSet {
        text.parse().unwrap()
    }

    #[test]
    fn the_first_bits_of_a_hash_select_the_slot() {
        let slot = |hash| Slot::from_hash(hash).index();
        assert_eq!([slot(0), slot(1 << 58), slot((1 << 58) - 1), slot(u64::MAX)], [0, 1, 0, 63]);
    }

    #[test]
    fn sets_round_trip_as_ranges() {
        for text in ["", "0", "63", "0-63", "0-12,14", "1,3-4,62-63"] {
            assert_eq!(set(text).to_string(), text);
        }
        assert_eq!((set("0-63"), set("")), (SlotSet::ALL, SlotSet::EMPTY));
        assert_eq!(set("1,3-4").iter().map(Slot::index).collect::<Vec<_>>(), [1, 3, 4]);
    }

    #[test]
    fn texts_that_are_no_ranges_are_errors_that_name_the_format() {
        for text in ["64", "3-1", "a", "-1", "1-64"] {
            let error = text.parse::<SlotSet>().unwrap_err().to_string();
            assert_eq!(error, format!("invalid slots `{text}`: expected ranges of 0 to 63, such as `0-12,14`"));
        }
    }

    #[test]
    fn sets_have_the_usual_operations() {
        let (a, b) = (set("0-9"), set("8-12"));
        assert_eq!((a.union(b), a.intersection(b), a.difference(b)), (set("0-12"), set("8-9"), set("0-7")));
        assert!(set("3").is_subset(a) && !b.is_subset(a) && SlotSet::EMPTY.is_subset(SlotSet::EMPTY));
        assert_eq!((a.len(), SlotSet::ALL.len(), SlotSet::EMPTY.is_empty()), (10, 64, true));
        let mut set = a;
        set.remove(Slot(3));
        assert_eq!(set.to_string(), "0-2,4-9");
    }
}
