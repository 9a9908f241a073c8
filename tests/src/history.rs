//! The history of replicas that led one after another, or shared the keys: what two of them did at the same time.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    ops::Range,
    time::Duration,
};

use crate::journal::{Entry, Event};

/// The life of one process.
#[derive(Clone, Debug)]
pub struct Run {
    /// The identity of its elector.
    pub identity: String,
    /// Its journal.
    pub entries: Vec<Entry>,
    /// From when all its threads were stopped until they were continued.
    pub pauses: Vec<Range<Duration>>,
    /// When it had ended.
    pub ended: Duration,
}

/// Returns what violates the exclusion of leaders, one line for each violation. `writers` are the identities of the
/// replicas that wrote an object, in the order in which the API server accepted the writes.
///
/// - The reconciliations of a key do not overlap, in one process or in several.
/// - A replica starts no reconciliation after its successor did.
/// - The API server accepts no write of a replica after one of its successor.
///
/// No lease prevents that a paused process completes what it was doing when it was paused. So after a pause it may
/// start one reconciliation in the interrupted poll, and the requests that it was sending may be accepted. A
/// reconciliation that only ends after a pause, without another write, ended when the pause began.
pub fn violations(runs: &[Run], writers: &[String]) -> Vec<String> {
    let mut leaders: Vec<&Run> = runs.iter().filter(|run| run.first_start().is_some()).collect();
    leaders.sort_by_key(|run| run.first_start());
    let (mut found, mut intervals) = (Vec::new(), Vec::new());
    for (index, run) in leaders.iter().enumerate() {
        let successor = leaders.get(index + 1).and_then(|next| next.first_start()).unwrap_or(Duration::MAX);
        let (timely, late): (Vec<_>, Vec<_>) =
            run.intervals().into_iter().partition(|timely| timely.start <= successor);
        if late.len() > usize::from(!run.pauses.is_empty()) {
            found.push(format!("{} started reconciliations after its successor: {}", run.identity, late.len()));
        }
        intervals.extend(timely);
    }
    found.extend(overlaps(intervals));
    found.extend(late_writes(&leaders, writers));
    found
}

/// Returns the reconciliations of a key that overlap, one line for each. The replicas share the keys.
///
/// As in [`violations`], a replica may start one reconciliation in a poll that a pause interrupted.
pub fn overlapping(runs: &[Run]) -> Vec<String> {
    overlaps(runs.iter().flat_map(Run::uninterrupted_intervals).collect())
}

/// A reconciliation.
#[derive(Clone, Debug)]
struct Interval<'a> {
    identity: &'a str,
    key: &'a str,
    start: Duration,
    end: Duration,
}

/// A reconciliation that has not ended.
struct Open {
    start: Duration,
    /// When it began its last write.
    write: Option<Duration>,
}

impl Run {
    fn first_start(&self) -> Option<Duration> {
        self.entries.iter().find(|entry| matches!(entry.event, Event::Started(_))).map(|entry| entry.at)
    }

    fn intervals(&self) -> Vec<Interval<'_>> {
        let (mut open, mut intervals) = (HashMap::<&str, Open>::new(), Vec::new());
        let identity = self.identity.as_str();
        let interval = |key, start, end| Interval { identity, key, start, end };
        for Entry { at, event } in &self.entries {
            match event {
                Event::Serving(_) | Event::Slots(_) => {}
                Event::Started(key) => {
                    if let Some(unended) = open.insert(key, Open { start: *at, write: None }) {
                        intervals.push(interval(key.as_str(), unended.start, self.ended));
                    }
                }
                Event::Writing(key) => {
                    if let Some(open) = open.get_mut(key.as_str()) {
                        open.write = Some(*at);
                    }
                }
                Event::Ended(key) | Event::Dropped(key) => {
                    if let Some(ended) = open.remove(key.as_str()) {
                        intervals.push(interval(key.as_str(), ended.start, self.last_activity(&ended, *at)));
                    }
                }
            }
        }
        intervals.extend(open.into_iter().map(|(key, open)| interval(key, open.start, self.ended)));
        intervals
    }

    /// Returns the reconciliations without the first one after each pause.
    fn uninterrupted_intervals(&self) -> Vec<Interval<'_>> {
        let mut intervals = self.intervals();
        intervals.sort_by_key(|interval| interval.start);
        for pause in &self.pauses {
            if let Some(first) = intervals.iter().position(|interval| interval.start >= pause.end) {
                intervals.remove(first);
            }
        }
        intervals
    }

    /// Returns until when a reconciliation that ended at this time was active: to the start of the last pause, unless
    /// it wrote afterwards.
    fn last_activity(&self, open: &Open, at: Duration) -> Duration {
        let pause = self.pauses.iter().rev().find(|pause| open.start <= pause.start && pause.end <= at);
        let pause = pause.filter(|pause| open.write.is_none_or(|write| write <= pause.start));
        pause.map_or(at, |pause| pause.start)
    }

    /// Returns how many requests the process was sending when it was last paused.
    fn writing_at_pause(&self) -> usize {
        let Some(pause) = self.pauses.last() else { return 0 };
        let mut writing = HashSet::<&str>::new();
        for Entry { event, .. } in self.entries.iter().take_while(|entry| entry.at <= pause.start) {
            match event {
                Event::Writing(key) => {
                    writing.insert(key);
                }
                Event::Ended(key) | Event::Dropped(key) => {
                    writing.remove(key.as_str());
                }
                Event::Serving(_) | Event::Slots(_) | Event::Started(_) => {}
            }
        }
        writing.len()
    }
}

/// Returns the reconciliations that overlap an earlier one of the same key.
fn overlaps(mut intervals: Vec<Interval<'_>>) -> Vec<String> {
    intervals.sort_by_key(|interval| (interval.key, interval.start));
    let mut found = Vec::new();
    let mut last: Option<&Interval<'_>> = None;
    for interval in &intervals {
        let other = last.filter(|last| last.key == interval.key && last.end > interval.start);
        if let Some(other) = other {
            let (first, second) = (other.identity, interval.identity);
            found.push(format!("{first} and {second} reconciled {} at the same time", interval.key));
        }
        if other.is_none_or(|other| other.end < interval.end) {
            last = Some(interval);
        }
    }
    found
}

/// Returns the replicas whose writes were accepted after one of a successor.
fn late_writes(leaders: &[&Run], writers: &[String]) -> Vec<String> {
    let ranks: HashMap<&str, usize> = leaders.iter().map(|run| run.identity.as_str()).zip(0..).collect();
    let (mut found, mut late, mut latest) = (Vec::new(), BTreeMap::<usize, usize>::new(), 0);
    for writer in writers {
        match ranks.get(writer.as_str()) {
            Some(&rank) if rank < latest => *late.entry(rank).or_default() += 1,
            Some(&rank) => latest = rank,
            None => found.push(format!("{writer} wrote an object although it started no reconciliation")),
        }
    }
    for (rank, count) in late {
        let run = leaders[rank];
        let allowed = if run.pauses.is_empty() { 0 } else { run.writing_at_pause() + 1 };
        if count > allowed {
            let identity = &run.identity;
            found.push(format!(
                "{count} writes of {identity} were accepted after one of a successor; allowed {allowed}"
            ));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a run from entries such as `1 started x`, with times in seconds.
    fn run(identity: &str, entries: &str, ended: u64) -> Run {
        let entry = |text: &str| {
            let (seconds, event) = text.split_once(' ').unwrap();
            Entry::parse(&format!("{seconds}000000000 {event}")).unwrap()
        };
        let (identity, entries) = (identity.to_owned(), entries.split(", ").map(entry).collect());
        Run { identity, entries, pauses: Vec::new(), ended: Duration::from_secs(ended) }
    }

    fn paused(run: Run, pause: Range<u64>) -> Run {
        Run { pauses: vec![Duration::from_secs(pause.start)..Duration::from_secs(pause.end)], ..run }
    }

    fn writers(identities: &str) -> Vec<String> {
        identities.chars().map(String::from).collect()
    }

    #[test]
    fn leaders_one_after_another_are_no_violation() {
        let killed = run("a", "1 started x, 2 ended x, 3 started y", 4);
        let next = run("b", "4 started y, 5 ended y, 5 started x", 6);
        assert!(violations(&[next, killed], &writers("aabb")).is_empty());
    }

    #[test]
    fn reconciliations_of_a_key_at_the_same_time_are_violations() {
        let first = run("a", "1 started x, 5 ended x", 9);
        let second = run("b", "4 started x, 6 ended x", 9);
        let third = run("c", "7 started x, 8 ended x", 9);
        assert_eq!(violations(&[first, second.clone(), third], &[]), ["a and b reconciled x at the same time"]);
        let twice = run("a", "1 started x, 2 started x, 3 ended x", 9);
        assert_eq!(violations(&[twice], &[]), ["a and a reconciled x at the same time"]);
        let killed = run("a", "1 started x", 5);
        assert_eq!(violations(&[killed, second], &[]), ["a and b reconciled x at the same time"]);
    }

    #[test]
    fn a_reconciliation_that_only_ends_after_a_pause_ended_before_it() {
        let first = run("a", "1 started x, 2 writing x, 9 dropped x", 9);
        let second = run("b", "6 started x, 7 ended x", 9);
        let overlap = ["a and b reconciled x at the same time"];
        assert_eq!(violations(&[first.clone(), second.clone()], &[]), overlap);
        assert!(violations(&[paused(first, 3..8), second.clone()], &[]).is_empty());
        let completed = run("a", "1 started x, 2 writing x, 9 ended x", 9);
        assert!(violations(&[paused(completed, 3..8), second.clone()], &[]).is_empty());
        let continued = run("a", "1 started x, 8 writing x, 9 dropped x", 9);
        assert_eq!(violations(&[paused(continued, 3..8), second], &[]), overlap);
    }

    #[test]
    fn replicas_that_share_the_keys_reconcile_different_ones_at_the_same_time() {
        let first = run("a", "1 started x, 5 ended x, 6 started x, 9 ended x", 9);
        let second = run("b", "2 started y, 4 ended y, 5 started x, 6 ended x", 9);
        assert!(overlapping(&[first.clone(), second]).is_empty());
        let other = run("b", "7 started x, 8 ended x", 9);
        let overlap = ["a and b reconciled x at the same time"];
        assert_eq!(overlapping(&[first.clone(), other.clone()]), overlap);
        assert!(overlapping(&[paused(first, 5..6), other]).is_empty(), "in the interrupted poll");
    }

    #[test]
    fn reconciliations_that_start_after_those_of_the_successor_are_violations() {
        let late = run("a", "1 started x, 2 ended x, 5 started y", 9);
        let successor = run("b", "4 started x, 5 ended x", 9);
        let expected = ["a started reconciliations after its successor: 1"];
        assert_eq!(violations(&[late.clone(), successor.clone()], &[]), expected);
        assert!(violations(&[paused(late, 3..4), successor.clone()], &[]).is_empty(), "in the interrupted poll");
        let late = run("a", "1 started x, 2 ended x, 5 started y, 6 started z", 9);
        let expected = ["a started reconciliations after its successor: 2"];
        assert_eq!(violations(&[paused(late, 3..4), successor], &[]), expected);
    }

    #[test]
    fn writes_after_those_of_the_successor_are_violations() {
        let first = run("a", "1 started x, 2 writing x, 9 dropped x", 9);
        let second = run("b", "4 started y, 5 ended y", 9);
        let runs = [first.clone(), second.clone()];
        let expected = ["1 writes of a were accepted after one of a successor; allowed 0"];
        assert_eq!(violations(&runs, &writers("aba")), expected);
        let runs = [paused(first, 3..8), second];
        assert!(violations(&runs, &writers("abaab")).is_empty(), "one request, and one in the interrupted poll");
        let expected = ["3 writes of a were accepted after one of a successor; allowed 2"];
        assert_eq!(violations(&runs, &writers("abaaab")), expected);
        let expected = ["c wrote an object although it started no reconciliation"];
        assert_eq!(violations(&runs, &writers("ac")), expected);
    }
}
