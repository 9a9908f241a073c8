//! Triggers: why keys are in the queue, for the spans of their reconciliations.

use std::{fmt, sync::Arc};

/// Why a key is reconciled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Trigger {
    /// A change of an object of this kind: of the reconciled object itself, or of one that is mapped to it.
    Event(Arc<str>, Change),
    /// The last reconciliation failed.
    Retry,
    /// The last reconciliation returned `Action::Requeue`.
    Requeue,
    /// The last reconciliation returned `Action::RequeueAfter`.
    RequeueAfter,
    /// The key was added to the queue of the controller.
    #[default]
    Queue,
}

/// A change of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It existed before the controller.
    Initial,
    Added,
    Updated,
    Deleted,
    /// It did not change.
    Resynced,
    /// Its mapping, which panicked, was retried.
    Remapped,
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trigger::Event(kind, change) => write!(f, "{kind} {change}"),
            Trigger::Retry => f.write_str("retry"),
            Trigger::Requeue => f.write_str("requeue"),
            Trigger::RequeueAfter => f.write_str("requeue_after"),
            Trigger::Queue => f.write_str("queue"),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Change::Initial => "initial",
            Change::Added => "added",
            Change::Updated => "updated",
            Change::Deleted => "deleted",
            Change::Resynced => "resynced",
            Change::Remapped => "remapped",
        })
    }
}
