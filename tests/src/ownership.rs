//! The times for which a slot had no owner, from the journals of the replicas that share the keys.

use std::{ops::Range, time::Duration};

use kubewright_runtime::sharding::{Slot, SlotSet};

use crate::{history::Run, journal::Event};

/// A fault, during which no replica can take over slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The name.
    pub name: &'static str,
    /// From when until when; its beginning for a fault that does not prevent other replicas from taking over.
    pub time: Range<Duration>,
}

/// A time for which a slot had no owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The slot.
    pub slot: Slot,
    /// From when until when.
    pub time: Range<Duration>,
}

impl Gap {
    /// Returns how long the slot had no owner.
    pub fn length(&self) -> Duration {
        self.time.end - self.time.start
    }

    /// Returns the part of the gap after the faults in it, and the last one of these.
    pub fn after<'a>(&self, faults: &'a [Fault]) -> (Range<Duration>, Option<&'a Fault>) {
        let last = faults.iter().filter(|fault| fault.time.start < self.time.end).max_by_key(|fault| fault.time.end);
        let end = last.map_or(Duration::ZERO, |fault| fault.time.end).min(self.time.end);
        (end.max(self.time.start)..self.time.end, last)
    }
}

/// Returns when slots had no owner within this time.
///
/// A replica owns a slot from when it records it until it records that it no longer has it, or ends. A paused replica
/// owns none.
pub fn gaps(runs: &[Run], within: &Range<Duration>) -> Vec<Gap> {
    SlotSet::ALL.iter().flat_map(|slot| gaps_of(slot, runs, within)).collect()
}

fn gaps_of(slot: Slot, runs: &[Run], within: &Range<Duration>) -> Vec<Gap> {
    let mut owned: Vec<_> = runs.iter().flat_map(|run| owned_times(run, slot)).collect();
    owned.retain(|time| time.start < within.end);
    owned.sort_by_key(|time| time.start);
    owned.push(within.end..within.end);
    let (mut gaps, mut end) = (Vec::new(), within.start);
    for time in owned {
        if end < time.start {
            gaps.push(Gap { slot, time: end..time.start });
        }
        end = end.max(time.end);
    }
    gaps
}

/// Returns when a replica owned a slot.
fn owned_times(run: &Run, slot: Slot) -> Vec<Range<Duration>> {
    let (mut times, mut since) = (Vec::new(), None);
    for entry in &run.entries {
        let Event::Slots(slots) = entry.event else { continue };
        match (slots.contains(slot), since) {
            (true, None) => since = Some(entry.at),
            (false, Some(start)) => {
                times.push(start..entry.at);
                since = None;
            }
            _ => {}
        }
    }
    times.extend(since.map(|start| start..run.ended));
    times.into_iter().flat_map(|time| without(&time, &run.pauses)).collect()
}

/// Returns the parts of a time outside of the pauses, which are in order.
fn without(time: &Range<Duration>, pauses: &[Range<Duration>]) -> Vec<Range<Duration>> {
    let (mut parts, mut start) = (Vec::new(), time.start);
    for pause in pauses.iter().filter(|pause| pause.start < time.end && pause.end > time.start) {
        parts.push(start..pause.start);
        start = pause.end;
    }
    parts.push(start..time.end);
    parts.retain(|part| part.start < part.end);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Entry;

    fn seconds(time: Range<u64>) -> Range<Duration> {
        Duration::from_secs(time.start)..Duration::from_secs(time.end)
    }

    /// Creates a run that records these slots at these times, in seconds.
    fn run(slots: &[(u64, &str)], pauses: &[Range<u64>], ended: u64) -> Run {
        let entry = |(at, slots): &(u64, &str)| Entry {
            at: Duration::from_secs(*at),
            event: Event::Slots(slots.parse().unwrap()),
        };
        Run {
            identity: "a".to_owned(),
            entries: slots.iter().map(entry).collect(),
            pauses: pauses.iter().cloned().map(seconds).collect(),
            ended: Duration::from_secs(ended),
        }
    }

    fn gaps_of_first_slot(runs: &[Run], within: Range<u64>) -> Vec<Range<Duration>> {
        let gaps = gaps(runs, &seconds(within));
        gaps.into_iter().filter(|gap| gap.slot.index() == 0).map(|gap| gap.time).collect()
    }

    #[test]
    fn a_slot_has_no_owner_between_two_owners() {
        let runs = [run(&[(1, "0-63"), (4, "1-63")], &[], 9), run(&[(6, "0")], &[], 9)];
        assert_eq!(gaps_of_first_slot(&runs, 2..9), [seconds(4..6)]);
        assert_eq!(gaps_of_first_slot(&runs, 0..10), [0..1, 4..6, 9..10].map(seconds));
        assert!(gaps_of_first_slot(&runs, 2..4).is_empty());
        assert_eq!(gaps(&runs, &seconds(2..9)).len(), 1);
    }

    #[test]
    fn a_paused_replica_owns_no_slot() {
        let paused = run(&[(1, "0-63"), (8, "")], &[2..4, 6..9], 9);
        assert_eq!(gaps_of_first_slot(std::slice::from_ref(&paused), 1..9), [2..4, 6..9].map(seconds));
        assert_eq!(gaps_of_first_slot(&[paused, run(&[(3, "0-63")], &[], 9)], 1..9), [seconds(2..3)]);
    }

    #[test]
    fn a_gap_is_counted_from_the_last_fault_in_it() {
        let [gap] = gaps(&[run(&[(0, "0-63"), (4, "1-63")], &[], 9)], &seconds(1..9)).try_into().unwrap();
        let after = |times: &[(u64, u64)]| {
            let fault = |(start, end): &(u64, u64)| Fault { name: "a", time: seconds(*start..*end) };
            let faults: Vec<_> = times.iter().map(fault).collect();
            gap.after(&faults).0
        };
        assert_eq!((gap.length().as_secs(), after(&[])), (5, seconds(4..9)));
        assert_eq!(after(&[(3, 3)]), seconds(4..9), "before the gap");
        assert_eq!(after(&[(6, 6), (5, 7), (9, 9)]), seconds(7..9));
        assert!(after(&[(5, 10)]).is_empty(), "an outage until the end");
    }
}
