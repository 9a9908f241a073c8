//! Reactions: the results of reactors.

use bytes::Bytes;
use serde::Serialize;

use crate::testing::faults::Fault;

/// The result of a reactor for one action.
#[derive(Debug)]
pub struct Reaction(pub(super) Kind);

#[derive(Debug)]
pub(super) enum Kind {
    Pass,
    Change(Bytes),
    /// The fault handles the request in place of the rest of the chain.
    Handle(Box<Fault>),
}

impl Reaction {
    /// Not handled: the request continues along the chain.
    #[must_use]
    pub fn pass() -> Self {
        Self(Kind::Pass)
    }

    /// Not handled: the request continues along the chain with another body.
    #[must_use]
    pub fn change(body: &impl Serialize) -> Self {
        serde_json::to_vec(body)
            .map_or_else(|error| Self::not_serializable(&error), |body| Self(Kind::Change(body.into())))
    }

    /// Handled: responds with 200 and this body.
    #[must_use]
    pub fn answer(body: &impl Serialize) -> Self {
        match serde_json::to_string(body) {
            Ok(text) => Self::fault(Fault::answer(200, text)),
            Err(error) => Self::not_serializable(&error),
        }
    }

    /// Handled: rejected with a `Status` of this code (500 if it is invalid), reason and message.
    #[must_use]
    pub fn reject(code: u16, reason: &str, message: &str) -> Self {
        Self::fault(Fault::status(code, reason, message))
    }

    /// Handled by a fault, for example a delay or a lost response. If the fault lets the server process the request,
    /// the rest of the chain is skipped and the server receives the original request.
    #[must_use]
    pub fn fault(fault: Fault) -> Self {
        Self(Kind::Handle(Box::new(fault)))
    }

    fn not_serializable(error: &serde_json::Error) -> Self {
        Self::reject(500, "InternalError", &format!("cannot serialize the body of the reactor: {error}"))
    }
}
