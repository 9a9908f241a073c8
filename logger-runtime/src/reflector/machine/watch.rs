//! The machine while it watches.

use std::time::Duration;

use tokio::time::Instant;

use super::super::failure::{Failure, Silence};
use super::{Machine, Meaning, Stage, Told};
use crate::version::ResourceVersion;

/// How much later than promised a server may end a watch.
const MARGIN: Duration = Duration::from_secs(30);
/// How long a watch that has begun to tell what is there may pause in that.
const INITIAL_PAUSE: Duration = Duration::from_secs(30);
/// Kubernetes sends bookmarks about each minute: a server that does, and stops, is not there any more.
const BOOKMARKS_STOPPED: Duration = Duration::from_secs(180);
/// A watch that ends sooner is no good.
const SHORT: Duration = Duration::from_secs(1);
/// The failures of one disturbance are not further apart.
const DISTURBANCE: Duration = Duration::from_secs(60);

#[derive(Clone, Debug)]
pub(super) struct Watching {
    pub(super) started: Instant,
    pub(super) last_event: Instant,
    /// The server has answered.
    pub(super) answered: bool,
    pub(super) events: u64,
    /// The server has sent a bookmark by itself.
    pub(super) bookmarks: bool,
    pub(super) timeout: Duration,
    /// The versions of events are in order: what is there is told, or was known.
    pub(super) ordered: bool,
}

/// Failures of a watch that are not the client's fault.
#[derive(Debug)]
pub(super) struct Disturbance {
    began: Instant,
    last: Instant,
}

impl Machine {
    /// The server has answered: the watch runs.
    pub(in crate::reflector) fn watching(&mut self, now: Instant) {
        if let Stage::Stream(watching) | Stage::Watch(watching) = &mut self.stage {
            (watching.answered, watching.last_event) = (true, now);
        }
    }

    /// A watch told something; an unknown event and one without a version do not move the version.
    pub(in crate::reflector) fn event(&mut self, now: Instant, told: Told, version: &str) -> Meaning {
        let initial = matches!(self.stage, Stage::Stream(_));
        let (Stage::Stream(watching) | Stage::Watch(watching)) = &mut self.stage else { return Meaning::Nothing };
        watching.events += 1;
        watching.last_event = now;
        watching.bookmarks |= told == (Told::Bookmark { ends_initial_events: false });
        self.short = 0;
        if told == Told::Unknown {
            return Meaning::Nothing;
        }
        if initial && told == (Told::Bookmark { ends_initial_events: true }) {
            let watching = Watching { ordered: true, ..watching.clone() };
            self.stage = Stage::Watch(watching);
            self.endless = 0;
            self.synced(version);
            return Meaning::Complete;
        }
        if initial {
            return if matches!(told, Told::Bookmark { .. }) { Meaning::Nothing } else { Meaning::Collect };
        }
        // What is there comes first, in no order of versions, when a watch begins at none.
        watching.ordered |= told != Told::Added;
        if watching.ordered && !version.is_empty() {
            self.last = Some(ResourceVersion::new(version));
        }
        Meaning::Change
    }

    /// A watch was refused, or failed later.
    pub(in crate::reflector) fn watch_failed(&mut self, now: Instant, failure: Failure) {
        match self.stage {
            Stage::Stream(_) => self.stream_failed(now, failure),
            _ => self.plain_watch_failed(now, failure),
        }
    }

    fn stream_failed(&mut self, now: Instant, failure: Failure) {
        match failure {
            Failure::Busy(_) | Failure::Refused => self.wait_after(now, failure),
            Failure::Expired | Failure::TooLarge if !self.unavailable => self.unavailable = true,
            Failure::Expired | Failure::TooLarge => self.wait_after(now, failure),
            _ => {
                self.rules.watch_list &= failure != Failure::NotTaken;
                self.stage = Stage::List(self.listing(false));
            }
        }
    }

    fn plain_watch_failed(&mut self, now: Instant, failure: Failure) {
        let same_version = match failure {
            Failure::Busy(_) | Failure::Refused => true,
            Failure::Broken => self.is_worth_retrying(now),
            _ => false,
        };
        // A watch that ran and was cut is begun again at once, as one that ended.
        let ran = matches!(&self.stage, Stage::Watch(watching) if watching.ran(now));
        if !(same_version && ran && failure == Failure::Broken) {
            self.wait_after(now, failure);
        }
        if !same_version {
            self.begin(now);
        }
    }

    /// A watch ended. Says what is wrong with that, if something is.
    pub(in crate::reflector) fn watch_ended(&mut self, now: Instant) -> Option<Silence> {
        let watching = match &self.stage {
            Stage::List(_) => return None,
            Stage::Stream(_) => return Some(self.did_not_end()),
            Stage::Watch(watching) => watching,
        };
        if watching.ran(now) {
            return None;
        }
        let nothing = watching.events == 0;
        self.wait_after(now, Failure::Other);
        self.short += u32::from(nothing);
        // One may be bad luck. A server that never lets watch is listed from time to time.
        if self.short >= 2 {
            self.short = 0;
            self.begin(now);
        }
        nothing.then_some(Silence::Short)
    }

    /// Until when a watch must have told something; `None` is for ever.
    pub(in crate::reflector) fn deadline(&self) -> Option<Instant> {
        let (watching, pause) = match &self.stage {
            Stage::List(_) => return None,
            Stage::Stream(watching) => (watching, Some(INITIAL_PAUSE)),
            Stage::Watch(watching) => {
                let bookmarks = watching.bookmarks.then_some(BOOKMARKS_STOPPED);
                (watching, self.rules.idle_timeout.or(bookmarks))
            }
        };
        let promised = watching.started.checked_add(watching.timeout.saturating_add(MARGIN));
        let silence = pause.filter(|_| watching.answered).and_then(|pause| watching.last_event.checked_add(pause));
        promised.into_iter().chain(silence).min()
    }

    /// A watch told nothing until its deadline.
    pub(in crate::reflector) fn silent(&mut self, now: Instant) -> Option<Silence> {
        let silence = match &self.stage {
            Stage::List(_) => return None,
            Stage::Stream(_) => return Some(self.did_not_end()),
            Stage::Watch(watching) => now.saturating_duration_since(watching.last_event),
        };
        self.wait_after(now, Failure::Other);
        Some(Silence::Dead(silence))
    }

    /// The server takes the request for an ordinary watch, or breaks it off: after the second time, no more of those.
    fn did_not_end(&mut self) -> Silence {
        self.endless += 1;
        self.rules.watch_list &= self.endless < 2;
        self.stage = Stage::List(self.listing(false));
        Silence::Endless
    }

    /// Whether this disturbance is young enough to just watch again.
    fn is_worth_retrying(&mut self, now: Instant) -> bool {
        let began = match &self.disturbance {
            Some(known) if now.saturating_duration_since(known.last) < DISTURBANCE => known.began,
            _ => now,
        };
        let worth = now.saturating_duration_since(began) <= self.rules.internal_retry;
        self.disturbance = worth.then_some(Disturbance { began, last: now });
        worth
    }
}

impl Watching {
    pub(super) fn new(now: Instant) -> Self {
        let timeout = Duration::ZERO;
        Watching {
            started: now,
            last_event: now,
            answered: false,
            events: 0,
            bookmarks: false,
            timeout,
            ordered: false,
        }
    }

    /// The server answered, and it was not over at once.
    fn ran(&self, now: Instant) -> bool {
        self.answered && now.saturating_duration_since(self.started) >= SHORT
    }
}
