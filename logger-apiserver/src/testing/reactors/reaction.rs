//! A reaction: what a reactor makes of an action.

use bytes::Bytes;
use serde::Serialize;

use super::feed::{Feed, WatchFeed};
use crate::testing::faults::Fault;

/// What a reactor makes of an action.
#[derive(Debug)]
pub struct Reaction(pub(super) Kind);

#[derive(Debug)]
pub(super) enum Kind {
    Pass,
    Change(Bytes),
    Handle(Handled),
}

/// What the request meets in place of the rest of the chain.
#[derive(Debug)]
pub(super) enum Handled {
    Fault(Box<Fault>),
    Watch(Feed),
}

impl Reaction {
    /// Nothing: the next reactor has its turn, and at last the server.
    #[must_use]
    pub fn pass() -> Self {
        Self(Kind::Pass)
    }

    /// The request continues along the chain with another body.
    #[must_use]
    pub fn change(body: &impl Serialize) -> Self {
        serde_json::to_vec(body)
            .map_or_else(|error| Self::unserialisable(&error), |body| Self(Kind::Change(body.into())))
    }

    /// Handled: the answer is 200 and this.
    #[must_use]
    pub fn answer(answer: &impl Serialize) -> Self {
        match serde_json::to_string(answer) {
            Ok(text) => Self::fault(Fault::answer(200, text)),
            Err(error) => Self::unserialisable(&error),
        }
    }

    /// Handled: rejected with a `Status` of this code (500 if it is not a valid one), reason and message.
    #[must_use]
    pub fn refuse(code: u16, reason: &str, message: &str) -> Self {
        Self::fault(Fault::status(code, reason, message))
    }

    /// Handled by this fault: a delay, a lost answer, whatever faults can do. One that lets the server answer passes over
    /// the rest of the chain, and sends the request as it was sent.
    #[must_use]
    pub fn fault(fault: Fault) -> Self {
        Self(Kind::Handle(Handled::Fault(Box::new(fault))))
    }

    /// Handled: the watch gets what the feed is given from now on.
    #[must_use]
    pub fn watch(feed: &WatchFeed) -> Self {
        Self(Kind::Handle(Handled::Watch(feed.subscribe())))
    }

    fn unserialisable(error: &serde_json::Error) -> Self {
        Self::refuse(500, "InternalError", &format!("what the reactor gave does not serialise: {error}"))
    }
}
