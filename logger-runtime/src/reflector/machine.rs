//! What a reflector does next, without doing it: Go's rules for versions, retries and waits.

use std::time::Duration;

use fastrand::Rng;
use tokio::time::Instant;

use super::backoff::Backoff;
use super::failure::Failure;
use super::options::ListOptions;
use crate::version::ResourceVersion;

#[cfg(test)]
mod tests;
mod watch;

use watch::{Disturbance, Watching};

/// The page size of client-go.
const PAGE: u32 = 500;
/// So many lists in a row that broke off, and the next is of pages: a server that is overloaded may never come to the end of
/// one that is whole, which it gives a minute.
const BROKEN_LISTS: u32 = 2;
/// No server's wish to be left alone is followed for longer.
const LONGEST_WISH: Duration = Duration::from_secs(60);

/// What stays the same while a reflector runs.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    /// Every list comes in pages of so many objects.
    pub(super) page_size: Option<u32>,
    /// A watch is to begin with what is there.
    pub(super) watch_list: bool,
    /// The shortest and the longest watch.
    pub(super) watch_timeout: (Duration, Duration),
    /// A watch that told nothing for so long is dead.
    pub(super) idle_timeout: Option<Duration>,
    /// A broken watch is tried again for so long before everything is listed.
    pub(super) internal_retry: Duration,
}

/// What to do next.
#[derive(Debug, PartialEq)]
pub(super) enum Do {
    Wait(Duration),
    /// One that does not continue a list begins it anew.
    List(ListOptions),
    /// One that sends initial events begins to collect anew.
    Watch(ListOptions),
}

/// What a watch told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Added,
    Modified,
    Deleted,
    Bookmark { ends_initial_events: bool },
    Unknown,
}

/// What that means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Keep it aside: not all is there yet.
    Collect,
    /// What was kept aside is all there is.
    Complete,
    /// The copy changes so.
    Change,
    /// Nothing.
    Nothing,
}

/// Promises: at any time there is one list or one watch, or a wait. What fails is tried again after a wait, but for what
/// a different request can heal, of which there are few in a row.
#[derive(Debug)]
pub(super) struct Machine {
    rules: Rules,
    backoff: Box<dyn Backoff>,
    random: Rng,
    stage: Stage,
    wait: Option<Duration>,
    /// How far the copy is.
    last: Option<ResourceVersion>,
    /// The server did not have that version any more, or not yet, or did not come to the end of its list.
    unavailable: bool,
    /// Lists that broke off, in a row.
    broken: u32,
    /// The first list came in pages: the server has no copy in memory to be spared for.
    paginated: bool,
    /// Watches that did not end their initial events, in a row.
    endless: u32,
    /// Watches that told nothing, in a row.
    short: u32,
    disturbance: Option<Disturbance>,
}

#[derive(Debug)]
enum Stage {
    List(Listing),
    /// A watch that begins with what is there.
    Stream(Watching),
    Watch(Watching),
}

#[derive(Debug)]
struct Listing {
    options: ListOptions,
    /// The version the list began with.
    began: Option<ResourceVersion>,
    /// It takes the place of one whose version was not available.
    again: bool,
}

impl Machine {
    pub(super) fn new(rules: Rules, backoff: Box<dyn Backoff>, random: Rng, now: Instant) -> Self {
        let stage = Stage::Watch(Watching::new(now));
        let mut machine = Machine {
            rules,
            backoff,
            random,
            stage,
            wait: None,
            last: None,
            unavailable: false,
            broken: 0,
            paginated: false,
            endless: 0,
            short: 0,
            disturbance: None,
        };
        machine.begin(now);
        machine
    }

    /// What to do, when nothing is being done.
    pub(super) fn next(&mut self, now: Instant) -> Do {
        if let Some(wait) = self.wait.take() {
            return Do::Wait(wait);
        }
        let (list, timeout) = (matches!(self.stage, Stage::Stream(_)), self.timeout());
        let version = if list && self.unavailable { None } else { self.last.clone() };
        let watching = match &mut self.stage {
            Stage::List(listing) => return Do::List(listing.options.clone()),
            Stage::Stream(watching) | Stage::Watch(watching) => watching,
        };
        let ordered = !list && version.as_ref().is_some_and(|version| version.as_str() != "0");
        *watching = Watching { timeout, ordered, ..Watching::new(now) };
        Do::Watch(ListOptions {
            resource_version: version,
            resource_version_match: list.then_some("NotOlderThan"),
            timeout: Some(timeout),
            send_initial_events: list,
            allow_watch_bookmarks: true,
            ..ListOptions::default()
        })
    }

    /// A page came. Whether it was the last.
    pub(super) fn page(&mut self, now: Instant, version: &str, continue_token: Option<String>) -> bool {
        let Stage::List(listing) = &mut self.stage else { return false };
        if let Some(token) = continue_token {
            // The page after this one is this one: pages lead nowhere.
            if listing.options.continue_token.as_ref() == Some(&token) {
                self.list_failed(now, Failure::Expired);
                return false;
            }
            // Only a server that keeps no copy in memory heeds a limit together with this version.
            self.paginated |= listing.began.as_ref().is_some_and(|version| version.as_str() == "0");
            (listing.options.resource_version, listing.options.resource_version_match) = (None, None);
            listing.options.continue_token = Some(token);
            return false;
        }
        self.synced(version);
        self.stage = Stage::Watch(Watching::new(now));
        true
    }

    /// A list failed.
    pub(super) fn list_failed(&mut self, now: Instant, failure: Failure) {
        let unavailable = matches!(failure, Failure::Expired | Failure::TooLarge);
        if let Stage::List(listing) = &mut self.stage {
            let paged = listing.options.continue_token.is_some() && listing.options.limit.is_some();
            if failure == Failure::Expired && paged {
                let resource_version = listing.began.clone();
                listing.options = ListOptions { resource_version, ..ListOptions::default() };
                return;
            }
            let again = listing.again;
            self.unavailable |= unavailable;
            if unavailable && !again {
                self.stage = Stage::List(self.listing(true));
                return;
            }
        }
        if failure == Failure::Broken {
            self.broken += 1;
            self.unavailable |= self.broken >= BROKEN_LISTS;
        }
        self.wait_after(now, failure);
        self.begin(now);
    }

    /// Begins to fetch everything.
    fn begin(&mut self, now: Instant) {
        self.stage = match self.rules.watch_list {
            true => Stage::Stream(Watching::new(now)),
            false => Stage::List(self.listing(false)),
        };
    }

    fn listing(&self, again: bool) -> Listing {
        let any = || ResourceVersion::new("0");
        let version = (!self.unavailable).then(|| self.last.clone().unwrap_or_else(any));
        // The server answers from memory for a version that was seen, unless it is asked for a page.
        let seen = version.as_ref().is_some_and(|version| version.as_str() != "0");
        let limit = self.rules.page_size.or((!seen || self.paginated).then_some(PAGE));
        // A limit would otherwise mean exactly that version: one the server may list, but no longer watch from, for
        // minutes. client-go leaves it at that.
        let resource_version_match = (seen && limit.is_some()).then_some("NotOlderThan");
        let options =
            ListOptions { resource_version: version.clone(), resource_version_match, limit, ..ListOptions::default() };
        Listing { options, began: version, again }
    }

    /// Everything is there, as of this version.
    fn synced(&mut self, version: &str) {
        self.last = (!version.is_empty()).then(|| ResourceVersion::new(version));
        self.unavailable = false;
        self.broken = 0;
    }

    fn wait_after(&mut self, now: Instant, failure: Failure) {
        let wish = match failure {
            Failure::Busy(wish) => wish.unwrap_or_default().min(LONGEST_WISH),
            _ => Duration::ZERO,
        };
        self.wait = Some(self.backoff.delay(now).max(wish));
    }

    fn timeout(&mut self) -> Duration {
        let (shortest, longest) = self.rules.watch_timeout;
        shortest + longest.saturating_sub(shortest).mul_f64(self.random.f64())
    }
}
