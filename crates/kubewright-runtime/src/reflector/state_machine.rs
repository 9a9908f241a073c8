//! The reflector's state machine: client-go's rules for versions, retries and delays, without I/O.

#[cfg(test)]
mod tests;
mod watch;

use std::{cmp::Ordering, time::Duration};

use fastrand::Rng;
use tokio::time::Instant;

use super::{
    backoff::Backoff,
    failure::{Failure, ReflectorError},
    list_options::ListOptions,
};
use crate::{error::catch_panic, object::ResourceVersion};
use watch::{InternalErrors, WatchState};

/// The page size of client-go.
const DEFAULT_PAGE_SIZE: u32 = 500;
/// After this many consecutive interrupted lists the next one is paginated: an overloaded server may be unable to
/// complete an unpaginated list within its request timeout of a minute.
const INTERRUPTED_LISTS_BEFORE_PAGING: u32 = 2;
/// The upper limit of a `Retry-After` that the reflector respects.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// The options of the state machine.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    /// The page size of every list, if set.
    pub(super) page_size: Option<u32>,
    /// Whether the initial list is streamed by a watch.
    pub(super) watch_list: bool,
    /// The minimum and maximum timeout of a watch.
    pub(super) watch_timeout: (Duration, Duration),
    /// How long a watch can be silent before it is considered dead, if set.
    pub(super) idle_timeout: Option<Duration>,
    /// How long a failing watch is retried before the objects are listed again.
    pub(super) max_internal_error_retry: Duration,
}

/// The next step to execute.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    Wait(Duration),
    /// Without a continue token, it starts a new list.
    List(ListOptions),
    /// With `send_initial_events`, it starts a new streamed list.
    Watch(ListOptions),
    /// List one object, to compare the version of the list.
    Compare(ListOptions),
}

/// The type of a watch event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventType {
    Added,
    Modified,
    Deleted,
    Bookmark { initial_events_end: bool },
    Unknown,
}

/// How to handle a watch event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handling {
    /// Buffer it: the streamed list is incomplete.
    Buffer,
    /// Replace all objects by the buffered ones: the streamed list is complete.
    Replace,
    /// Apply the change.
    Apply,
    Ignore,
}

/// Guarantees: at any time there is one list, one watch or one wait. A failed request is retried after a back-off,
/// unless a different request can succeed, of which there are few in a row.
#[derive(Debug)]
pub(super) struct StateMachine {
    policy: Policy,
    backoff: Box<dyn Backoff>,
    random: Rng,
    state: State,
    wait: Option<Duration>,
    last_version: Option<ResourceVersion>,
    /// Whether a list at the last version failed: the version is expired, not reached yet, or its lists are
    /// interrupted.
    is_last_version_unavailable: bool,
    /// Whether the versions of the server may have gone back, so that equal versions do not mean equal objects.
    may_go_back: bool,
    /// The number of consecutive interrupted lists.
    interrupted_lists: u32,
    /// Whether the first list was paginated, so the server has no watch cache that unpaginated lists would use.
    is_paginated: bool,
    /// The number of consecutive streamed lists without an end of the initial events.
    incomplete_streams: u32,
    /// The number of consecutive very short watches without events.
    short_watches: u32,
    /// The number of consecutive watches without events, not even bookmarks.
    silent_watches: u32,
    /// How long the server has been silent since the last event or comparison.
    silence: Duration,
    /// Whether the version of the server is to be compared before the next watch.
    is_comparison_due: bool,
    /// Whether the server has sent a bookmark other than the end of the initial events.
    sends_bookmarks: bool,
    internal_errors: Option<InternalErrors>,
}

#[derive(Debug)]
enum State {
    List(ListState),
    /// A watch that starts with a streamed list.
    WatchList(WatchState),
    Watch(WatchState),
}

#[derive(Debug)]
struct ListState {
    options: ListOptions,
    /// The version of the first page's request.
    start_version: Option<ResourceVersion>,
    /// Whether this replaces a list whose version was unavailable.
    is_fallback: bool,
}

impl StateMachine {
    pub(super) fn new(policy: Policy, backoff: Box<dyn Backoff>, random: Rng, now: Instant) -> Self {
        let state = State::Watch(WatchState::new(now));
        let mut machine = StateMachine {
            policy,
            backoff,
            random,
            state,
            wait: None,
            last_version: None,
            is_last_version_unavailable: false,
            may_go_back: false,
            interrupted_lists: 0,
            is_paginated: false,
            incomplete_streams: 0,
            short_watches: 0,
            silent_watches: 0,
            silence: Duration::ZERO,
            is_comparison_due: false,
            sends_bookmarks: false,
            internal_errors: None,
        };
        machine.relist(now);
        machine
    }

    /// Returns the next step. The previous one must be finished.
    pub(super) fn next(&mut self, now: Instant) -> Step {
        if let Some(wait) = self.wait.take() {
            return Step::Wait(wait);
        }
        if std::mem::take(&mut self.is_comparison_due) {
            return Step::Compare(ListOptions { limit: Some(1), ..ListOptions::default() });
        }
        let (initial_events, timeout) = (matches!(self.state, State::WatchList(_)), self.watch_timeout());
        let is_newest = initial_events && self.is_last_version_unavailable;
        let version = if is_newest { None } else { self.last_version.clone() };
        let watch = match &mut self.state {
            State::List(list) => return Step::List(list.options.clone()),
            State::WatchList(watch) | State::Watch(watch) => watch,
        };
        let is_ordered = !initial_events && version.as_ref().is_some_and(|version| version.as_str() != "0");
        *watch = WatchState { timeout, is_ordered, ..WatchState::new(now) };
        Step::Watch(ListOptions {
            resource_version: version,
            resource_version_match: initial_events.then_some("NotOlderThan"),
            timeout: Some(timeout),
            send_initial_events: initial_events,
            allow_watch_bookmarks: true,
            ..ListOptions::default()
        })
    }

    /// Returns whether the objects are being streamed by a watch.
    pub(super) fn is_streaming(&self) -> bool {
        matches!(self.state, State::WatchList(_))
    }

    /// Returns whether the versions of the server may have gone back since the last list.
    pub(super) fn may_go_back(&self) -> bool {
        self.may_go_back
    }

    /// Handles a received page and returns whether it was the last one.
    pub(super) fn page_received(&mut self, now: Instant, version: &str, continue_token: Option<String>) -> bool {
        let State::List(list) = &mut self.state else { return false };
        if let Some(token) = continue_token {
            // The token of the next page is that of this page: pagination makes no progress.
            if list.options.continue_token.as_ref() == Some(&token) {
                self.list_failed(now, Failure::Expired);
                return false;
            }
            // Only a server without a watch cache respects a limit together with version 0.
            self.is_paginated |= list.start_version.as_ref().is_some_and(|version| version.as_str() == "0");
            (list.options.resource_version, list.options.resource_version_match) = (None, None);
            list.options.continue_token = Some(token);
            return false;
        }
        self.list_completed(version);
        self.state = State::Watch(WatchState::new(now));
        true
    }

    pub(super) fn list_failed(&mut self, now: Instant, failure: Failure) {
        let is_unavailable = matches!(failure, Failure::Expired | Failure::TooLarge);
        self.may_go_back |= failure == Failure::TooLarge;
        if let State::List(list) = &mut self.state {
            let is_page = list.options.continue_token.is_some() && list.options.limit.is_some();
            if failure == Failure::Expired && is_page {
                let resource_version = list.start_version.clone();
                list.options = ListOptions { resource_version, ..ListOptions::default() };
                return;
            }
            let is_fallback = list.is_fallback;
            self.is_last_version_unavailable |= is_unavailable;
            if is_unavailable && !is_fallback {
                self.state = State::List(self.list_state(true));
                return;
            }
        }
        if failure == Failure::Transient {
            self.interrupted_lists += 1;
            self.is_last_version_unavailable |= self.interrupted_lists >= INTERRUPTED_LISTS_BEFORE_PAGING;
        }
        self.back_off(now, failure);
        self.relist(now);
    }

    /// Handles the current version of the server. Returns an error if the versions went back.
    pub(super) fn compared(&mut self, now: Instant, version: &str) -> Option<ReflectorError> {
        let last = self.last_version.as_ref()?;
        if last.compare(version) != Some(Ordering::Greater) {
            return None;
        }
        self.watch_failed(now, Failure::WentBack);
        Some(ReflectorError::WentBack)
    }

    /// Handles a comparison without a response. The watch continues, and the next silent ones lead to another one.
    pub(super) fn comparison_failed(&mut self, now: Instant, failure: Failure) {
        self.back_off(now, failure);
    }

    /// Starts a list, streamed if the policy requires it.
    pub(super) fn relist(&mut self, now: Instant) {
        self.state = match self.policy.watch_list {
            true => State::WatchList(WatchState::new(now)),
            false => State::List(self.list_state(false)),
        };
    }

    fn list_state(&self, is_fallback: bool) -> ListState {
        let any_version = || ResourceVersion::new("0");
        let version =
            (!self.is_last_version_unavailable).then(|| self.last_version.clone().unwrap_or_else(any_version));
        // The server serves a seen version from its watch cache, unless the list is paginated.
        let is_seen = version.as_ref().is_some_and(|version| version.as_str() != "0");
        let limit = self.policy.page_size.or((!is_seen || self.is_paginated).then_some(DEFAULT_PAGE_SIZE));
        // Without a match, a limit requests exactly that version, which the server may list but no longer watch.
        // client-go does not set a match here.
        let resource_version_match = (is_seen && limit.is_some()).then_some("NotOlderThan");
        let options =
            ListOptions { resource_version: version.clone(), resource_version_match, limit, ..ListOptions::default() };
        ListState { options, start_version: version, is_fallback }
    }

    fn list_completed(&mut self, version: &str) {
        self.last_version = (!version.is_empty()).then(|| ResourceVersion::new(version));
        (self.is_last_version_unavailable, self.may_go_back) = (false, false);
        self.interrupted_lists = 0;
    }

    /// Schedules a wait: the back-off, or the server's `Retry-After` if that is longer.
    fn back_off(&mut self, now: Instant, failure: Failure) {
        let retry_after = match failure {
            Failure::TooManyRequests(retry_after) => retry_after.unwrap_or_default().min(MAX_RETRY_AFTER),
            _ => Duration::ZERO,
        };
        let delay = catch_panic(|| self.backoff.delay(now)).unwrap_or_else(|panic| {
            tracing::error!(panic, "the back-off panicked; waiting for {MAX_RETRY_AFTER:?}");
            MAX_RETRY_AFTER
        });
        self.wait = Some(delay.max(retry_after));
    }

    fn watch_timeout(&mut self) -> Duration {
        let (min, max) = self.policy.watch_timeout;
        min + max.saturating_sub(min).mul_f64(self.random.f64())
    }
}
