//! The correlator: decides which recorded events are written, counted in a series or dropped. It is pure: time comes
//! from the caller, and writes are returned.

mod key;
mod series;
mod similar;
mod token_bucket;

use std::{collections::BTreeMap, num::NonZeroUsize, sync::Arc};

use k8s_openapi::{
    api::events::v1::Event,
    apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta},
    jiff::Timestamp,
};
use lru::LruCache;
use tokio::time::Instant;

use super::{
    name::{EventNames, MAX_NOTE, cut},
    new_event::NewEvent,
    reporter::Reporter,
};
use key::{GroupKey, ObjectId, SeriesKey};
use series::Series;
use similar::SimilarNotes;
use token_bucket::TokenBucket;

/// The maximum number of series, of groups of similar events and of objects that are known.
const MAX_ENTRIES: NonZeroUsize = NonZeroUsize::new(10_000).expect("not zero");

/// The beginning of the note of an event that represents similar ones, as in client-go.
const COMBINED_PREFIX: &str = "(combined from similar events): ";

/// The namespace of events about cluster-scoped objects.
const DEFAULT_NAMESPACE: &str = "default";

/// An event as it was recorded.
#[derive(Clone, Debug)]
pub(super) struct Occurrence {
    pub(super) reporter: Arc<Reporter>,
    pub(super) event: NewEvent,
    /// The time of the event.
    pub(super) time: Timestamp,
}

/// What follows from an occurrence.
#[derive(Debug, PartialEq)]
pub(super) enum Decision {
    /// A new event is created, or the series of an existing one is patched.
    Write(Write),
    /// The occurrence is counted in its series, which is written later.
    Count,
    /// The occurrence is dropped.
    Drop(DropReason),
}

/// Why the correlator drops an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DropReason {
    /// Its object has no token.
    RateLimited,
}

/// The decision about an occurrence, and the last write of the series that was evicted for it, if that has an unwritten
/// count.
#[derive(Debug, PartialEq)]
pub(super) struct Observation {
    pub(super) decision: Decision,
    pub(super) evicted: Option<Write>,
}

/// A request to the API server.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Write {
    /// The number of the series. Writes of one series have one number.
    pub(super) series: u64,
    pub(super) reporter: Arc<Reporter>,
    pub(super) verb: Verb,
    /// The complete event, with its current series.
    pub(super) event: Box<Event>,
}

/// How an event is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// Creates the event.
    Create,
    /// Patches its series.
    Patch,
}

/// The known series, with what limits new ones.
#[derive(Debug)]
pub(super) struct Correlator {
    series: LruCache<Arc<SeriesKey>, Series>,
    similar: LruCache<Arc<GroupKey>, SimilarNotes>,
    buckets: LruCache<Arc<ObjectId>, TokenBucket>,
    /// When a series needs attention next, by time and number. Each series has one entry.
    deadlines: BTreeMap<(Instant, u64), Arc<SeriesKey>>,
    names: EventNames,
    next_number: u64,
}

impl Correlator {
    pub(super) fn new() -> Self {
        Correlator {
            series: LruCache::sparse(MAX_ENTRIES),
            similar: LruCache::sparse(MAX_ENTRIES),
            buckets: LruCache::sparse(MAX_ENTRIES),
            deadlines: BTreeMap::new(),
            names: EventNames::default(),
            next_number: 0,
        }
    }

    /// Decides about an event that was recorded at `now`.
    pub(super) fn observe(&mut self, occurrence: Occurrence, now: Instant) -> Observation {
        let group = Arc::new(GroupKey::new(&occurrence));
        let note = key::note_hash(&occurrence.event);
        let similar = self.similar.get_or_insert_mut(Arc::clone(&group), SimilarNotes::default);
        let note = similar.admit(note, now).then_some(note);
        let key = SeriesKey { group, note };
        match self.series.contains(&key) {
            true => Observation { decision: self.repeat(&key, occurrence.time, now), evicted: None },
            false => self.start(key, occurrence, now),
        }
    }

    /// Returns when [`pop_due`](Self::pop_due) has something to do.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.first_key_value().map(|((at, _), _)| *at)
    }

    /// Forgets idle series, and returns the next write that is due: the periodic one of a running series or the last
    /// one of an idle series.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<Write> {
        while let Some(entry) = self.deadlines.first_entry().filter(|entry| entry.key().0 <= now) {
            let key = entry.remove();
            if let Some(write) = self.check(key, now) {
                return Some(write);
            }
        }
        None
    }

    /// Forgets series until one has an unwritten count, and returns its last write.
    pub(super) fn pop_unwritten(&mut self, now: Instant) -> Option<Write> {
        while let Some((_, series)) = self.series.pop_lru() {
            self.deadlines.remove(&(series.deadline, series.number));
            if let Some(write) = series.last_write(now) {
                return Some(write);
            }
        }
        None
    }

    /// Counts a further occurrence of a series. The second one is written at once.
    fn repeat(&mut self, key: &SeriesKey, time: Timestamp, now: Instant) -> Decision {
        let Some(series) = self.series.get_mut(key) else { return Decision::Count };
        series.count(time, now);
        match !series.is_running() && take_token(&mut self.buckets, &key.group.object, now) {
            true => Decision::Write(series.write(now)),
            false => Decision::Count,
        }
    }

    /// Starts a series with its first event.
    fn start(&mut self, key: SeriesKey, occurrence: Occurrence, now: Instant) -> Observation {
        if !take_token(&mut self.buckets, &key.group.object, now) {
            return Observation { decision: Decision::Drop(DropReason::RateLimited), evicted: None };
        }
        let (reporter, time) = (Arc::clone(&occurrence.reporter), occurrence.time);
        let event = self.event(occurrence, key.note.is_none());
        let series = Series::new(self.next_number, reporter, event, time, now);
        self.next_number += 1;
        let decision = Decision::Write(series.creation());
        let key = Arc::new(key);
        self.deadlines.insert((series.deadline, series.number), Arc::clone(&key));
        let evicted = self.series.push(key, series).and_then(|(_, evicted)| {
            self.deadlines.remove(&(evicted.deadline, evicted.number));
            evicted.last_write(now)
        });
        Observation { decision, evicted }
    }

    /// Handles the deadline of a series.
    fn check(&mut self, key: Arc<SeriesKey>, now: Instant) -> Option<Write> {
        if self.series.peek(&*key)?.is_idle(now) {
            return self.series.pop(&*key)?.last_write(now);
        }
        let series = self.series.peek_mut(&*key)?;
        let write = series.is_refresh_due(now).then(|| series.write(now));
        series.deadline = series.next_deadline();
        self.deadlines.insert((series.deadline, series.number), key);
        write
    }

    fn event(&mut self, occurrence: Occurrence, is_combined: bool) -> Box<Event> {
        let Occurrence { reporter, event, time } = occurrence;
        let namespace = event.regarding.namespace.clone().filter(|namespace| !namespace.is_empty());
        let name = self.names.next(event.regarding.name.as_deref().unwrap_or_default(), time);
        let note = match is_combined {
            true => cut(COMBINED_PREFIX.to_owned() + &event.note, MAX_NOTE),
            false => event.note,
        };
        Box::new(Event {
            metadata: ObjectMeta {
                name: Some(name),
                namespace: Some(namespace.unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned())),
                ..ObjectMeta::default()
            },
            event_time: Some(MicroTime(time)),
            type_: Some(event.type_.as_str().to_owned()),
            reason: Some(event.reason),
            action: Some(event.action),
            note: Some(note),
            regarding: Some(event.regarding),
            related: event.related,
            reporting_controller: Some(reporter.controller.clone()),
            reporting_instance: Some(reporter.instance.clone()),
            ..Event::default()
        })
    }
}

/// Takes a token of an object, if it has one.
fn take_token(buckets: &mut LruCache<Arc<ObjectId>, TokenBucket>, object: &Arc<ObjectId>, now: Instant) -> bool {
    buckets.get_or_insert_mut(Arc::clone(object), || TokenBucket::new(now)).take(now)
}

#[cfg(test)]
mod tests;
