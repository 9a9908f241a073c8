//! The slots of a replica: which it should have, cache and work on, and why it has none.

use std::{collections::BTreeMap, time::Duration};

use super::{
    super::{assignment::assign, leases::Incompatible, slot::SlotSet},
    Departure, Membership, StateMachine, Time,
};

/// Why a replica has no slots, although it is not stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sharding) enum Waiting {
    /// The Leases were not listed yet.
    NotListed,
    Incompatible(Incompatible),
    /// The objects of the slots that it would get are not in the caches yet.
    NotSynced,
    /// The fleet has as many replicas as slots.
    Full,
    /// The table of the slots was deleted.
    NoTable,
}

impl StateMachine {
    /// Updates the slots to have.
    pub(super) fn update(&mut self) {
        self.desired = self.desired_slots();
        self.confirmed = self.confirmed.intersection(self.leases.held_by(&self.holder)).intersection(self.desired);
    }

    fn desired_slots(&self) -> SlotSet {
        let Membership::Member { joined, .. } = self.membership else { return SlotSet::EMPTY };
        if self.departure != Departure::Staying || self.incompatible().is_some() {
            return SlotSet::EMPTY;
        }
        // The first members of a fleet wait for each other, so that the first one does not cache all objects.
        let is_settling = self.listed() < joined + self.policy.lease.retry_period / 2;
        if is_settling && self.leases.held().is_none_or(BTreeMap::is_empty) {
            return SlotSet::EMPTY;
        }
        self.assigned(None)
    }

    /// Returns the slots of this replica if it is a member, and those of its fleet that did not renew within the limit
    /// are not.
    pub(super) fn assigned(&self, limit: Option<Duration>) -> SlotSet {
        let (holder, empty) = (self.holder.as_str(), BTreeMap::new());
        let members = self.leases.live(self.listed(), limit).chain([holder]);
        assign(members, self.leases.held().unwrap_or(&empty)).get(holder).copied().unwrap_or_default()
    }

    /// Returns the slots whose objects must be in the caches; `None` if they are not known yet.
    pub(in crate::sharding) fn cached(&self) -> Option<SlotSet> {
        self.listed?;
        let busy = self.local.busy().union(self.leases.held_by(&self.holder));
        if self.departure != Departure::Staying || self.incompatible().is_some() {
            return Some(busy);
        }
        let assigned = match self.membership {
            // The slots of a replica that is likely to expire are cached in advance.
            Membership::Member { .. } if !self.desired.is_empty() => {
                self.desired.union(self.assigned(Some(self.policy.lease.renew_deadline)))
            }
            Membership::Member { .. } => self.desired,
            _ if self.is_first() || self.is_full() => SlotSet::EMPTY,
            _ => self.assigned(None),
        };
        Some(busy.union(assigned))
    }

    /// Returns the slots whose keys can be processed, until [`active_until`](Self::active_until).
    pub(in crate::sharding) fn active(&self) -> SlotSet {
        self.confirmed
    }

    /// Returns until when keys can be processed, if there is no further renewal.
    pub(in crate::sharding) fn active_until(&self) -> Time {
        self.deadline_after(self.policy.lease.renew_deadline)
    }

    /// Returns when the processing of all keys must have ended, if there is no further renewal.
    pub(in crate::sharding) fn work_deadline(&self) -> Time {
        self.deadline_after(self.policy.lease.lease_duration - self.policy.lease.abort_margin)
    }

    fn deadline_after(&self, duration: Duration) -> Time {
        match (self.membership, self.listed) {
            (Membership::Member { renewed, .. }, Some(listed)) => renewed.min(listed) + duration,
            _ => Time::ZERO,
        }
    }

    /// Returns why the replica is no member; `None` if it is one, or is leaving.
    pub(in crate::sharding) fn waiting(&self) -> Option<Waiting> {
        if self.departure != Departure::Staying {
            return None;
        }
        if self.listed.is_none() {
            return Some(Waiting::NotListed);
        }
        if let Some(incompatible) = self.incompatible() {
            return Some(Waiting::Incompatible(incompatible));
        }
        match self.membership {
            _ if self.leases.is_table_missed(self.listed()) => Some(Waiting::NoTable),
            Membership::Member { .. } => None,
            _ if self.is_full() => Some(Waiting::Full),
            _ => Some(Waiting::NotSynced),
        }
    }

    pub(super) fn incompatible(&self) -> Option<Incompatible> {
        self.leases.incompatible(self.listed())
    }

    /// Returns whether no other replica holds slots.
    pub(super) fn is_first(&self) -> bool {
        self.leases.held_now(self.listed()).values().all(|slots| slots.is_empty())
    }

    fn is_full(&self) -> bool {
        self.leases.free_index().is_none()
    }
}
