//! The watch states of the state machine.

use std::{cmp::Ordering, time::Duration};

use tokio::time::Instant;

use super::{
    super::failure::{Failure, ReflectorError},
    EventType, Handling, State, StateMachine,
};
use crate::object::ResourceVersion;

/// How much later than its timeout a server can end a watch.
const WATCH_END_MARGIN: Duration = Duration::from_secs(30);
/// The maximum time between initial events.
const MAX_INITIAL_EVENTS_GAP: Duration = Duration::from_secs(30);
/// Kubernetes sends a bookmark about every minute. A watch without an event or a response is considered dead after
/// this.
const BOOKMARK_TIMEOUT: Duration = Duration::from_secs(90);
/// How long a server without bookmarks is silent before its version is compared.
const MAX_SILENCE: Duration = Duration::from_secs(180);
/// A shorter watch is an error, as in client-go.
const MIN_WATCH_DURATION: Duration = Duration::from_secs(1);
/// Errors that are further apart belong to different periods of internal errors.
const INTERNAL_ERROR_GAP: Duration = Duration::from_secs(60);

#[derive(Clone, Debug)]
pub(super) struct WatchState {
    pub(super) started: Instant,
    pub(super) last_event: Instant,
    /// Whether the server has responded.
    pub(super) is_established: bool,
    pub(super) events: u64,
    pub(super) timeout: Duration,
    /// Whether the versions of the events are in order: all initial events were received, or there are none.
    pub(super) is_ordered: bool,
}

/// A period of consecutive internal errors of a watch.
#[derive(Debug)]
pub(super) struct InternalErrors {
    first: Instant,
    last: Instant,
}

impl StateMachine {
    pub(in crate::reflector) fn watch_started(&mut self, now: Instant) {
        if let State::WatchList(watch) | State::Watch(watch) = &mut self.state {
            (watch.is_established, watch.last_event) = (true, now);
        }
    }

    /// Returns whether an event is older than an earlier one, so that the versions of the server went back. Deletions
    /// do not count: some aggregated API servers send the version of the last change.
    pub(in crate::reflector) fn goes_back(&self, event: EventType, version: &str) -> bool {
        let State::Watch(watch) = &self.state else { return false };
        let has_order = watch.is_ordered && !matches!(event, EventType::Deleted | EventType::Unknown);
        let is_older = |last: &ResourceVersion| last.compare(version) == Some(Ordering::Greater);
        has_order && self.last_version.as_ref().is_some_and(is_older)
    }

    /// Handles a watch event. Unknown events and events without a version do not change the last version.
    pub(in crate::reflector) fn event_received(&mut self, now: Instant, event: EventType, version: &str) -> Handling {
        let is_initial = matches!(self.state, State::WatchList(_));
        let (State::WatchList(watch) | State::Watch(watch)) = &mut self.state else { return Handling::Ignore };
        watch.events += 1;
        watch.last_event = now;
        self.sends_bookmarks |= event == (EventType::Bookmark { initial_events_end: false });
        (self.short_watches, self.silent_watches, self.silence) = (0, 0, Duration::ZERO);
        if event == EventType::Unknown {
            return Handling::Ignore;
        }
        if is_initial && event == (EventType::Bookmark { initial_events_end: true }) {
            let watch = WatchState { is_ordered: true, ..watch.clone() };
            self.state = State::Watch(watch);
            self.incomplete_streams = 0;
            self.list_completed(version);
            return Handling::Replace;
        }
        if is_initial {
            return if matches!(event, EventType::Bookmark { .. }) { Handling::Ignore } else { Handling::Buffer };
        }
        // A watch without a version starts with the existing objects, which are not ordered by version.
        watch.is_ordered |= event != EventType::Added;
        if watch.is_ordered && !version.is_empty() {
            self.last_version = Some(ResourceVersion::new(version));
        }
        Handling::Apply
    }

    /// Handles a watch that was rejected or interrupted.
    pub(in crate::reflector) fn watch_failed(&mut self, now: Instant, failure: Failure) {
        if failure == Failure::WentBack {
            self.is_last_version_unavailable = true;
        }
        self.may_go_back |= matches!(failure, Failure::WentBack | Failure::TooLarge);
        match self.state {
            State::WatchList(_) => self.watch_list_failed(now, failure),
            _ => self.plain_watch_failed(now, failure),
        }
    }

    fn watch_list_failed(&mut self, now: Instant, failure: Failure) {
        match failure {
            Failure::TooManyRequests(_) | Failure::ConnectionRefused => self.back_off(now, failure),
            Failure::Expired | Failure::TooLarge if !self.is_last_version_unavailable => {
                self.is_last_version_unavailable = true;
            }
            Failure::Expired | Failure::TooLarge => self.back_off(now, failure),
            _ => {
                self.policy.watch_list &= failure != Failure::Unsupported;
                self.state = State::List(self.list_state(false));
            }
        }
    }

    fn plain_watch_failed(&mut self, now: Instant, failure: Failure) {
        let is_resumable = match failure {
            Failure::TooManyRequests(_) | Failure::ConnectionRefused => true,
            Failure::Transient => self.should_retry_internal_error(now),
            _ => false,
        };
        // An established watch that was interrupted is restarted at once, like one that ended.
        let was_established = matches!(&self.state, State::Watch(watch) if watch.is_long_enough(now));
        if !(is_resumable && was_established && failure == Failure::Transient) {
            self.back_off(now, failure);
        }
        if !is_resumable {
            self.relist(now);
        }
    }

    /// Handles the end of a watch. Returns an error if it ended too early.
    pub(in crate::reflector) fn watch_ended(&mut self, now: Instant) -> Option<ReflectorError> {
        let watch = match &self.state {
            State::List(_) => return None,
            State::WatchList(_) => return Some(self.stream_incomplete()),
            State::Watch(watch) => watch,
        };
        if watch.is_long_enough(now) {
            let silence = now.saturating_duration_since(watch.last_event);
            self.compare_after(silence);
            return None;
        }
        let is_empty = watch.events == 0;
        self.back_off(now, Failure::Other);
        self.short_watches += u32::from(is_empty);
        // A server that never allows a watch is listed repeatedly.
        if self.short_watches >= 2 {
            self.short_watches = 0;
            self.relist(now);
        }
        is_empty.then_some(ReflectorError::VeryShortWatch)
    }

    /// Returns when the watch is considered dead unless there is an event before; `None` for never.
    pub(in crate::reflector) fn watch_deadline(&self) -> Option<Instant> {
        let (watch, max_silence) = match &self.state {
            State::List(_) => return None,
            State::WatchList(watch) if watch.is_established => (watch, MAX_INITIAL_EVENTS_GAP),
            State::WatchList(watch) => (watch, BOOKMARK_TIMEOUT),
            State::Watch(watch) => (watch, self.policy.idle_timeout.unwrap_or(BOOKMARK_TIMEOUT)),
        };
        let end = watch.started.checked_add(watch.timeout.saturating_add(WATCH_END_MARGIN));
        let silence = watch.last_event.checked_add(max_silence);
        end.into_iter().chain(silence).min()
    }

    /// Handles a watch that had no event or response until its deadline. Returns no error if the server sends no
    /// bookmarks: then a new watch only checks the connection.
    ///
    /// A server that is silent in two watches in a row may have gone back to an older version: it then sends nothing
    /// until it reaches the version of the watch. Only a list detects that. If the server has sent bookmarks before,
    /// the objects are listed; otherwise silence is usual, and the version is compared by a list of one object.
    pub(in crate::reflector) fn watch_timed_out(&mut self, now: Instant) -> Option<ReflectorError> {
        let (silence, is_established) = match &self.state {
            State::List(_) => return None,
            State::WatchList(_) => return Some(self.stream_incomplete()),
            State::Watch(watch) => (now.saturating_duration_since(watch.last_event), watch.is_established),
        };
        self.silent_watches += u32::from(is_established);
        let is_repeated = is_established && self.silent_watches > 1;
        if is_established && !self.sends_bookmarks {
            self.compare_after(silence);
        }
        if is_repeated && !self.sends_bookmarks && self.policy.idle_timeout.is_none() {
            return None;
        }
        self.back_off(now, Failure::Other);
        if is_repeated && self.sends_bookmarks && silence >= BOOKMARK_TIMEOUT {
            self.silent_watches = 0;
            self.relist(now);
        }
        Some(ReflectorError::IdleTimeout(silence))
    }

    /// Compares the version with that of the server after enough silence.
    fn compare_after(&mut self, silence: Duration) {
        self.silence += silence;
        if self.silence >= MAX_SILENCE && self.last_version.is_some() {
            (self.silence, self.is_comparison_due) = (Duration::ZERO, true);
        }
    }

    /// Handles a streamed list that was interrupted, or that the server treats as a plain watch. After the second one
    /// in a row, lists are no longer streamed.
    fn stream_incomplete(&mut self) -> ReflectorError {
        self.incomplete_streams += 1;
        self.policy.watch_list &= self.incomplete_streams < 2;
        self.state = State::List(self.list_state(false));
        ReflectorError::IncompleteStream
    }

    /// Returns whether the current period of internal errors is short enough to retry the watch without a list.
    fn should_retry_internal_error(&mut self, now: Instant) -> bool {
        let first = match &self.internal_errors {
            Some(known) if now.saturating_duration_since(known.last) < INTERNAL_ERROR_GAP => known.first,
            _ => now,
        };
        let should_retry = now.saturating_duration_since(first) <= self.policy.max_internal_error_retry;
        self.internal_errors = should_retry.then_some(InternalErrors { first, last: now });
        should_retry
    }
}

impl WatchState {
    pub(super) fn new(now: Instant) -> Self {
        WatchState {
            started: now,
            last_event: now,
            is_established: false,
            events: 0,
            timeout: Duration::ZERO,
            is_ordered: false,
        }
    }

    /// Returns whether the server responded and the watch was not very short.
    fn is_long_enough(&self, now: Instant) -> bool {
        self.is_established && now.saturating_duration_since(self.started) >= MIN_WATCH_DURATION
    }
}
